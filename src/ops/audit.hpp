// Who did what, through which surface and why: what a change must say of itself, and a page of what was kept.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/administer.hpp"

namespace sluice::ops {

/// No text that somebody gives with a change may be longer.
inline constexpr std::size_t kMaxTextBytes = 4096;

/// The refusal of a change that must say why and does not. Every surface asks here, so that they answer the same.
Result<void> check_reason(std::string_view reason);
/// The refusal of a reason that is too long, for changes that need none.
Result<void> check_optional_reason(std::string_view reason);

struct AuditRequest {
  store::AuditFilter filter;
  int limit = 50;                     ///< 1 to kMaxPage
  std::optional<std::string> cursor;  ///< `next_cursor` of the page before
};

struct AuditList {
  std::vector<store::AuditRecord> records;
  std::optional<std::string> next_cursor;
};

Result<AuditList> list_audit(store::Observing& store, const AuditRequest& request);

std::string to_json(const AuditList& list);

}  // namespace sluice::ops
