#include "core/json.hpp"
#include "core/try.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

// The columns of sink_list, sink_switch and sink_circuit.
Result<SinkRecord> sink_record(const pq::Rows& rows, int row) {
  SinkRecord record;
  record.declared = {
      std::string{rows.text(row, 0)}, std::string{rows.text(row, 1)}, std::string{rows.text(row, 2)}, {}};
  const auto handlers = json::elements(rows.text(row, 3), "handlers");
  if (!handlers) return handlers.error();
  for (const std::string_view handler : *handlers) {
    SLUICE_TRY(auto text, json::string_value(handler, "handlers"));
    record.declared.handlers.push_back(std::move(text));
  }
  record.state = parse_sink_switch(rows.text(row, 4)).value_or(SinkSwitch::disabled);
  record.changed_at = rows.timestamptz(row, 5);
  record.changed_by = rows.text(row, 6);
  record.reason = rows.text(row, 7);
  record.opened_at = rows.optional_timestamptz(row, 8);
  record.open_until = rows.optional_timestamptz(row, 9);
  record.open_reason = rows.text(row, 10);
  record.declared_at = rows.timestamptz(row, 11);
  return record;
}

void add_texts(pq::Params& params, std::span<const SinkDeclaration> sinks, std::string SinkDeclaration::*member) {
  pq::Params::Array texts = params.array(pq::Params::Element::text);
  for (const SinkDeclaration& sink : sinks) texts.text(std::string_view{sink.*member});
}

}  // namespace

Result<void> PostgresStore::declare_sinks(std::span<const SinkDeclaration> sinks) {
  pq::Params params;
  add_texts(params, sinks, &SinkDeclaration::name);
  add_texts(params, sinks, &SinkDeclaration::kind);
  add_texts(params, sinks, &SinkDeclaration::target);
  std::string handlers = "[";
  for (const SinkDeclaration& sink : sinks) {
    handlers += handlers.size() > 1 ? ",[" : "[";
    for (const std::string& handler : sink.handlers) {
      if (&handler != sink.handlers.data()) handlers += ',';
      json::append_quoted(handlers, handler);
    }
    handlers += ']';
  }
  SLUICE_CHECK(run(writing(pg_sql::sink_declare), params.text(std::string_view{handlers + ']'})));
  return {};
}

Result<SinkRecords> PostgresStore::sinks() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::sink_list)));
  SinkRecords records;
  for (int row = 0; row < rows.size(); ++row) {
    records.now = rows.timestamptz(row, 12);
    if (rows.is_null(row, 0)) continue;
    SLUICE_TRY(auto record, sink_record(rows, row));
    records.sinks.push_back(std::move(record));
  }
  return records;
}

Result<SinkRecord> PostgresStore::switch_sink(const std::string& name, SinkSwitch to, const Actor& actor) {
  pq::Params params;
  params.text(std::string_view{name}).text(sluice::name(to));
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::sink_switch), add(params, actor)));
  return sink_record(rows, 0);
}

Result<SinkRecord> PostgresStore::move_circuit(const std::string& name, std::optional<Duration> open_for,
                                               const Actor& actor) {
  pq::Params params;
  params.text(std::string_view{name});
  open_for ? params.interval(*open_for) : params.null();
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::sink_circuit), add(params, actor)));
  return sink_record(rows, 0);
}

}  // namespace sluice::store
