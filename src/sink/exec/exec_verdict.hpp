// What the end of a program means for the event. Pure.
#pragma once

#include <string_view>

#include <sluice/handler.hpp>
#include "sink/exec/process.hpp"

namespace sluice::sink {

/// `program` is how messages name it.
Verdict verdict_of(const ProgramEnd& end, std::string_view program);

}  // namespace sluice::sink
