// What the requests of the pull API say. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include "runtime/pull_claims.hpp"
#include "runtime/pull_settling.hpp"

namespace sluice::http {

/// The most settlements or claims in one request.
inline constexpr std::size_t kMostClaims = 1000;

/// What a question may ask for; openapi.json and the documentation say the same.
struct ClaimBounds {
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t standard = 0;
};
inline constexpr ClaimBounds kClaimLimit{1, 100, 10};
inline constexpr ClaimBounds kClaimWaitSeconds{0, 60, 20};
inline constexpr ClaimBounds kClaimTtlSeconds{5, std::int64_t{24} * 3600, 60};

/// `unnamed`: what a worker is called that does not name itself. The error names the member.
Result<runtime::PullQuestion> read_question(std::string_view json, std::string_view unnamed);

struct SettleEntry {
  std::optional<std::string> claim;  ///< as it came, for the answer
  /// The error is about this one alone, and names `settlements[3].outcome`.
  Result<runtime::PullSettlement> settlement;
};
/// An error is about the list as a whole, or the store's.
Result<std::vector<SettleEntry>> read_settlements(std::string_view json, Timestamp now, runtime::PullTokens& tokens);

struct HeartbeatBody {
  std::vector<std::string> claims;
  std::vector<std::optional<runtime::PullToken>> tokens;  ///< none: see the refusal
  std::map<std::size_t, Error> refusals;                  ///< by position
  Duration ttl{};
};
Result<HeartbeatBody> read_heartbeat(std::string_view json, runtime::PullTokens& tokens);

}  // namespace sluice::http
