// The structured line about a publish, on stderr with --verbose.
#pragma once

#include "cli/session.hpp"
#include "ops/publish_event.hpp"

namespace sluice::cli {

void log_published(const Session& session, const config::Config& config, const ops::Published& published);

}  // namespace sluice::cli
