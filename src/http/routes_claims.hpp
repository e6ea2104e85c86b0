// /v1/claims: the pull API, for workers in any language.
#pragma once

#include <vector>

#include "http/router.hpp"
#include "runtime/pull_claims.hpp"
#include "runtime/pull_settling.hpp"

namespace sluice::http {

struct ClaimsDesk {
  runtime::PullClaims& asking;
  runtime::PullSettling& settling;
};

/// What the desk refers to outlives the server.
std::vector<Route> claim_routes(const ClaimsDesk& desk);

}  // namespace sluice::http
