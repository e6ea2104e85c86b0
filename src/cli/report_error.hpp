// How an error is told: a sentence for people, an object for programs. Always on stderr.
#pragma once

#include <iosfwd>

#include <sluice/result.hpp>
#include "cli/session.hpp"

namespace sluice::cli {

/// `sluice: sentence` and `  hint: …`, or {"error":{"code","message","field","hint","retry"}}.
void report_error(std::ostream& err, const Error& error, Format format);

}  // namespace sluice::cli
