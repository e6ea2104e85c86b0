// What a worker in another language holds for an event that it has claimed: everything that a later call needs, so
// that any daemon of the same store can settle it, also after a restart. Opaque to its holder, and signed with a secret
// of the store: nobody can make one for a claim that somebody else holds.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <sluice/result.hpp>
#include "store/claim.hpp"

namespace sluice::runtime {

struct PullToken {
  store::ClaimRef claim;
  std::string handler_name;
  std::string worker;
};

std::string token_text(const PullToken& token, std::string_view secret);
/// None: it is no token, or was not signed with this secret.
std::optional<PullToken> parse_pull_token(std::string_view text, std::string_view secret);

/// Reads tokens with the store's secret, which it remembers for a while.
///
/// Thread-safety: any number of threads.
class PullTokens {
 public:
  /// The store outlives it.
  explicit PullTokens(store::Claiming& store) : store_(store) {}

  /// For token_text.
  Result<std::string> secret();
  /// None: it is no token of this store.
  Result<std::optional<PullToken>> read(std::string_view text);

 private:
  using Clock = std::chrono::steady_clock;
  Result<std::string> secret_not_older_than(Clock::duration age);

  store::Claiming& store_;
  std::mutex mutex_;
  std::string secret_;
  Clock::time_point read_at_{};
};

}  // namespace sluice::runtime
