#include "ops/contracts_live.hpp"

#include <numeric>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"

namespace sluice::ops {
namespace {

// Payloads may have 256 KiB each, and a page is in memory at once.
constexpr int kPage = 100;

class LiveCheck {
 public:
  LiveCheck(const ContractSet& contracts, std::size_t max_offenders)
      : contracts_(contracts), max_offenders_(max_offenders) {}

  void take(const store::EventRecord& event) {
    const auto& envelope = event.envelope;
    const ContractEntry* entry = contracts_.applied_to(envelope);
    if (entry == nullptr) {
      ++report_.without_schema[envelope.event_type()];
      return;
    }
    const auto checked = check_payload(entry->contract, envelope.payload());
    if (checked) {
      ++report_.readable;
      return;
    }
    ++report_.unreadable;
    if (report_.offenders.size() >= max_offenders_) return;
    report_.offenders.push_back({envelope.event_id(), envelope.event_type(), envelope.event_version(), event.status,
                                 entry->contract.event_version, checked.error().field, checked.error().message});
  }

  LiveReport report() && { return std::move(report_); }

 private:
  const ContractSet& contracts_;
  std::size_t max_offenders_;
  LiveReport report_;
};

}  // namespace

std::int64_t LiveReport::events_without_schema() const {
  return std::accumulate(without_schema.begin(), without_schema.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
}

Result<LiveReport> verify_live(store::Administering& store, const ContractSet& contracts, const LiveRequest& request) {
  LiveCheck check{contracts, request.offenders};
  for (const Status status : {Status::pending, Status::failed}) {
    store::EventFilter filter;
    filter.status = status;
    filter.generation = request.generation;
    std::optional<std::int64_t> before;
    do {
      SLUICE_TRY(const auto page, store.list_events(filter, kPage, before));
      for (const auto& event : page.events) check.take(event);
      before = page.next;
    } while (before);
  }
  return std::move(check).report();
}

std::string to_json(const LiveOffender& offender) {
  return JsonObject{}
      .uuid("event_id", offender.event_id)
      .text("event_type", offender.event_type)
      .number("event_version", offender.event_version)
      .text("status", name(offender.status))
      .number("schema_version", offender.schema_version)
      .text("path", offender.path)
      .text("message", offender.message)
      .str();
}

std::string to_json(const LiveReport& report) {
  JsonObject without_schema;
  for (const auto& [event_type, count] : report.without_schema) without_schema.number(event_type, count);
  std::vector<std::string> offenders;
  offenders.reserve(report.offenders.size());
  for (const LiveOffender& offender : report.offenders) offenders.push_back(to_json(offender));
  return JsonObject{}
      .number("events", report.events())
      .number("readable", report.readable)
      .number("unreadable", report.unreadable)
      .number("without_schema", report.events_without_schema())
      .raw("types_without_schema", without_schema.str())
      .array("offenders", offenders)
      .str();
}

}  // namespace sluice::ops
