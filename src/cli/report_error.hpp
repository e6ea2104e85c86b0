// How an error is told: a sentence for people, an object for programs. Always on stderr.
#pragma once

#include <iosfwd>

#include <sluice/result.hpp>
#include "cli/session.hpp"

namespace sluice::cli {

/// With the names that the command has for the fields of a change: `--reason` where the use case says `reason`.
Error in_words_of(const Command& command, Error error);

/// `sluice: sentence` and `  hint: …`, or {"error":{"code","message","field","hint","retry"}}.
void report_error(std::ostream& err, const Error& error, Format format);

}  // namespace sluice::cli
