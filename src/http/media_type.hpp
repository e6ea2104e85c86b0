// What a body is, by its Content-Type. Pure.
#pragma once

#include <string>

#include "http/message.hpp"

namespace sluice::http {

/// In lower case and without parameters: `application/json`; empty when there is none.
std::string media_type(const Request& request);

}  // namespace sluice::http
