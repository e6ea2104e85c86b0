// From the flags of `sluice publish` to a request, its payload, and the log line of what was stored.
#pragma once

#include <cstddef>
#include <string>

#include <sluice/result.hpp>
#include "cli/parse.hpp"
#include "cli/session.hpp"
#include "ops/publish_event.hpp"

namespace sluice::cli {

std::vector<Option> publish_options();

/// Everything but the payload, which needs I/O. The error names the flag.
Result<ops::PublishRequest> publish_request(const Arguments& arguments);

/// The use case names fields; the person at the command line gave flags.
Error in_terms_of_flags(Error error);

// --data: where the payload text comes from.

/// JSON itself, `@FILE`, or `-` for standard input. Stops reading beyond `limit` bytes.
Result<std::string> read_payload(const std::string& data, Console& console, bool may_read_terminal, std::size_t limit);

// The structured line about a publish, on stderr with --verbose.

void log_published(const Session& session, const config::Config& config, const ops::Published& published);

}  // namespace sluice::cli
