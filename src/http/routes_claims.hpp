// /v1/claims: the pull API, for workers in any language.
#pragma once

#include <vector>

#include "http/router.hpp"
#include "runtime/pull_claims.hpp"
#include "runtime/pull_settling.hpp"

namespace sluice::http {

struct PullApi {
  runtime::PullClaims& asking;
  runtime::PullSettling& settling;
};

/// What the pull refers to outlives the server.
std::vector<Route> claim_routes(const PullApi& pull);

}  // namespace sluice::http
