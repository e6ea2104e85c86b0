// What a receiver said, as it goes into an error message. Pure.
#pragma once

#include <string>
#include <string_view>

namespace sluice::sink {

/// The first 512 bytes on one line that is safe to show, without white space at the end.
std::string excerpt(std::string_view said);

}  // namespace sluice::sink
