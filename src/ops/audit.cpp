#include "ops/audit.hpp"

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/event_json.hpp"

namespace sluice::ops {

Result<void> check_optional_reason(std::string_view reason) {
  if (reason.size() <= kMaxTextBytes) return {};
  return invalid("reason", "reason must be a text of at most " + std::to_string(kMaxTextBytes) + " bytes");
}

Result<void> check_reason(std::string_view reason) {
  const bool blank = reason.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (blank) return invalid("reason", "reason is required (recorded in the audit)");
  return check_optional_reason(reason);
}

Result<AuditList> list_audit(store::Observing& store, const AuditRequest& request) {
  SLUICE_CHECK(check_page(request.limit));
  SLUICE_TRY(const auto before, read_position(request.cursor));
  // One more than asked for tells whether there is a next page.
  SLUICE_TRY(auto records, store.audit(request.filter, request.limit + 1, before));
  AuditList list{std::move(records), std::nullopt};
  if (list.records.size() > static_cast<std::size_t>(request.limit)) {
    list.records.pop_back();
    list.next_cursor = std::to_string(list.records.back().id);
  }
  return list;
}

std::string to_json(const AuditList& list) {
  std::vector<std::string> records;
  for (const auto& record : list.records) records.push_back(to_json(record));
  return JsonObject{}.array("records", records).text("next_cursor", list.next_cursor).str();
}

}  // namespace sluice::ops
