// Deliveries through a broker: what its consumers report, and the switch.
#include <algorithm>

#include "core/try.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

using Element = pq::Params::Element;

template <class Add>
void report_column(pq::Params& params, Element element, std::span<const ConsumerReport> reports, Add add) {
  pq::Params::Array array = params.array(element);
  for (const ConsumerReport& report : reports) add(array, report);
}

void add_text(pq::Params& params, std::span<const ConsumerReport> reports, std::string HandlerProgress::*member) {
  report_column(params, Element::text, reports,
                [&](auto& a, const ConsumerReport& r) { a.text(std::string_view{r.progress.*member}); });
}

bool has_attempts(const ConsumerReport& report) { return !report.attempts.empty(); }

// An array for each report; null for none.
void add_attempts(pq::Params& params, std::span<const ConsumerReport> reports) {
  report_column(params, Element::jsonb, reports, [](auto& a, const ConsumerReport& r) {
    AttemptList list;
    for (const Attempt& attempt : r.attempts) list.add(r.event_id, 0, attempt);
    a.jsonb_or_null(list.empty() ? std::string{} : list.json());
  });
}

Reported answer_of(std::string_view text) {
  return text == "done" ? Reported::done : text == "early" ? Reported::early : Reported::stale;
}

}  // namespace

Result<std::vector<Reported>> PostgresStore::report(std::span<const ConsumerReport> reports) {
  if (reports.empty()) return std::vector<Reported>{};
  pq::Params params;
  report_column(params, Element::uuid, reports, [](auto& a, const ConsumerReport& r) { a.uuid(r.event_id); });
  report_column(params, Element::int8, reports, [](auto& a, const ConsumerReport& r) { a.int8(r.replay); });
  add_text(params, reports, &HandlerProgress::handler_name);
  report_column(params, Element::text, reports,
                [](auto& a, const ConsumerReport& r) { a.text(std::string_view{r.idempotency_key}); });
  report_column(params, Element::boolean, reports, [](auto& a, const ConsumerReport& r) { a.boolean(r.handled); });
  report_column(params, Element::boolean, reports,
                [](auto& a, const ConsumerReport& r) { a.boolean(r.progress.out_of_attempts); });
  report_column(params, Element::int8, reports, [](auto& a, const ConsumerReport& r) { a.int8(r.progress.attempts); });
  add_text(params, reports, &HandlerProgress::last_error);
  add_text(params, reports, &HandlerProgress::error_class);
  add_text(params, reports, &HandlerProgress::fingerprint);
  report_column(params, Element::jsonb, reports,
                [](auto& a, const ConsumerReport& r) { a.jsonb(progress_to_json({r.progress})); });
  const bool recorded = std::any_of(reports.begin(), reports.end(), has_attempts);
  if (recorded) add_attempts(params, reports);
  SLUICE_TRY(const pq::Rows rows,
             run(writing(recorded ? pg_sql::relay_report_recorded : pg_sql::relay_report), params));
  return pq::collect(rows, [&](int row) { return answer_of(rows.text(row, 0)); });
}

Result<std::vector<RelayedEvent>> PostgresStore::relayed(std::span<const Uuid> ids) {
  if (ids.empty()) return std::vector<RelayedEvent>{};
  pq::Params params;
  {
    pq::Params::Array array = params.array(Element::uuid);
    for (const Uuid& id : ids) array.uuid(id);
  }
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::relayed_list), params));
  std::vector<RelayedEvent> events;
  for (int row = 0; row < rows.size(); ++row) {
    SLUICE_TRY(auto progress, progress_from_json(rows.text(row, 2)));
    events.push_back({rows.uuid(row, 0), rows.int8(row, 1), std::move(progress), rows.optional_timestamptz(row, 3)});
  }
  return events;
}

Result<RelaySwitch> PostgresStore::relay() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::relay_state)));
  if (rows.empty()) return RelaySwitch{};
  RelaySwitch found = parse_relay(rows.text(0, 0));
  found.changed_at = rows.timestamptz(0, 1);
  found.changed_by = rows.text(0, 2);
  found.reason = rows.text(0, 3);
  return found;
}

Result<RelaySwitch> PostgresStore::switch_relay(RelayState to, const std::string& broker, const Actor& actor) {
  pq::Params params;
  params.text(name(to)).text(std::string_view{broker});
  SLUICE_CHECK(run(writing(pg_sql::relay_switch), add(params, actor)));
  return relay();
}

}  // namespace sluice::store
