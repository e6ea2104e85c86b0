// What a worker in another language holds for an event that it has claimed: everything that a later call needs, so
// that any daemon of the same store can settle it, also after a restart. Opaque to its holder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/claiming.hpp"

namespace sluice::runtime {

struct PullToken {
  store::ClaimRef claim;
  std::string handler_name;
  std::string worker;
};

std::string token_text(const PullToken& token);
/// None: it is no token.
std::optional<PullToken> parse_pull_token(std::string_view text);

}  // namespace sluice::runtime
