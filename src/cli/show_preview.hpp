// What a replay would do, for people.
#pragma once

#include "cli/session.hpp"
#include "ops/replay_preview.hpp"

namespace sluice::cli {

/// `total`: how many events the set has; the preview may have looked at fewer.
void show_preview(const Session& session, const ops::ReplayPreview& preview, std::int64_t total);

}  // namespace sluice::cli
