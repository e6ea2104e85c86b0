// Who did what, through which surface and why: a page of the audit, newest first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/administer.hpp"

namespace sluice::ops {

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
