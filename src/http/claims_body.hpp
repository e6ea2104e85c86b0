// What the requests of the pull API say. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include "runtime/pull_desk.hpp"
#include "runtime/pull_settling.hpp"

namespace sluice::http {

/// The most settlements or claims in one request.
inline constexpr std::size_t kMostClaims = 1000;

/// `peer` names a worker that does not name itself. The error names the member.
Result<runtime::PullQuestion> read_question(std::string_view json, std::string_view peer);

struct SettleBody {
  std::vector<runtime::PullSettlement> settlements;
  std::vector<std::string> claims;  ///< the tokens as they came, for the answer
};
/// The error names `settlements[3].outcome`.
Result<SettleBody> read_settlements(std::string_view json, Timestamp now);

struct HeartbeatBody {
  std::vector<runtime::PullToken> tokens;
  std::vector<std::string> claims;
  Duration ttl{};
};
Result<HeartbeatBody> read_heartbeat(std::string_view json);

}  // namespace sluice::http
