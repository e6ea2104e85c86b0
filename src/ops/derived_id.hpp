// Ids for events that come with a name of their own from outside: the same name is always the same id, so that
// storing it twice is storing it once.
#pragma once

#include <string>
#include <string_view>

#include <sluice/uuid.hpp>

namespace sluice::ops {

/// Who sent it, and what the sender calls it.
struct ForeignName {
  std::string_view sender;
  std::string_view id;
};

/// A version 8 uuid from the SHA-256 of `kind` and the name.
Uuid derived_id(std::string_view kind, const ForeignName& name);

/// `sender id`, for people and for deduplication; empty when it is too long or not printable enough for an
/// idempotency key. No two names share one, as long as the sender contains no space.
std::string derived_key(const ForeignName& name);

}  // namespace sluice::ops
