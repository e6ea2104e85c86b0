// From the flags of `sluice publish` to a request, and back from a field to its flag.
#pragma once

#include "cli/parse.hpp"
#include "ops/publish_event.hpp"

namespace sluice::cli {

std::vector<Option> publish_options();

/// Everything but the payload, which needs I/O. The error names the flag.
Result<ops::PublishRequest> publish_request(const Arguments& arguments);

/// The use case names fields; the person at the command line gave flags.
Error in_terms_of_flags(Error error);

}  // namespace sluice::cli
