#include "core/json.hpp"
#include "core/try.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"
#include "store/postgres/snapshot.hpp"

namespace sluice::store {
namespace {

using Element = pq::Params::Element;

std::string json_texts(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    if (json.size() > 1) json += ',';
    json::append_quoted(json, text);
  }
  return json + ']';
}

Result<std::vector<std::string>> texts_of(std::string_view json) {
  std::vector<std::string> texts;
  SLUICE_TRY(const auto elements, json::elements(json, "texts"));
  for (const std::string_view element : elements) {
    SLUICE_TRY(auto text, json::string_value(element, "texts"));
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<std::vector<SubscriptionRecord>> subscription_records(const pq::Rows& rows) {
  std::vector<SubscriptionRecord> records;
  for (int row = 0; row < rows.size(); ++row) {
    SLUICE_TRY(auto types, texts_of(rows.text(row, 2)));
    records.push_back(
        {{std::string{rows.text(row, 1)}, std::move(types), rows.optional_text(row, 3), rows.optional_text(row, 4)},
         rows.int8(row, 0),
         rows.timestamptz(row, 5),
         std::string{rows.text(row, 6)},
         rows.timestamptz(row, 7)});
  }
  return records;
}

Error no_settings() {
  return {ErrorCode::schema,
          Retry::never,
          "core.settings has lost its row subscriptions_version",
          {},
          "run `sluice db validate`"};
}

Result<pq::Rows> read_unsubscribed(pq::Connection& connection, PendingWalks& walks) {
  PendingReader pending{connection, walks};
  SLUICE_CHECK(pending.read(PendingWalk::Reach::the_end));
  SLUICE_CHECK(pending.end());
  const auto found = pending.found();
  pq::Params params;
  add(params, found.value_or(EventNumbers{}));
  return connection.run(reading(pg_sql::unsubscribed), params.boolean(!found));
}

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

Result<void> PostgresStore::subscribe(Generation generation, std::span<const Subscription> subscriptions,
                                      const std::string& declared_by) {
  for (const Subscription& one : subscriptions) {
    SLUICE_CHECK(one.validate());
  }
  pq::Params params;
  params.int8(generation);
  {
    pq::Params::Array handlers = params.array(Element::text);
    for (const Subscription& one : subscriptions) handlers.text(std::string_view{one.handler_name});
  }
  std::string event_types = "[";
  for (const Subscription& one : subscriptions) {
    if (event_types.size() > 1) event_types += ',';
    event_types += json_texts(one.event_types);
  }
  params.text(std::string_view{event_types + ']'});
  {
    pq::Params::Array contexts = params.array(Element::text);
    for (const Subscription& one : subscriptions) contexts.text(one.context);
  }
  {
    pq::Params::Array channels = params.array(Element::text);
    for (const Subscription& one : subscriptions) channels.text(one.channel);
  }
  params.text(std::string_view{declared_by});
  SLUICE_CHECK(run(writing(pg_sql::subscribe), params));
  return {};
}

Result<void> PostgresStore::unsubscribe(Generation generation, const std::string& handler_name, const Actor& actor) {
  pq::Params params;
  params.int8(generation).text(std::string_view{handler_name});
  SLUICE_CHECK(run(writing(pg_sql::unsubscribe), add(params, actor)));
  return {};
}

// Somebody may drop the schema and create it anew while connections stay open: its events are numbered from the
// beginning again, so nothing that was learnt of the old ones may be used.
void PostgresStore::notice_database(std::int64_t settings_table) {
  const std::int64_t before = settings_table_.exchange(settings_table);
  if (before != 0 && before != settings_table) pool_.forget();
}

Result<Registry> PostgresStore::registry(Generation generation) {
  // The version first: what is read after it is at least as new, so that a decision is never based on
  // less than its version says.
  SLUICE_TRY(const pq::Rows version, run(reading(pg_sql::registry_version)));
  if (version.empty()) return no_settings();
  notice_database(version.int8(0, 1));
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::subscription_list), pq::Params{}.int8(generation)));
  SLUICE_TRY(auto records, subscription_records(rows));
  return Registry{version.int8(0, 0), std::move(records), parse_relay(version.text(0, 2))};
}

Result<std::vector<SubscriptionRecord>> PostgresStore::subscriptions() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::subscription_list), pq::Params{}.int8(std::nullopt)));
  return subscription_records(rows);
}

Result<std::vector<UnsubscribedCount>> PostgresStore::unsubscribed() {
  const std::scoped_lock lock{walks_mutex_};
  SLUICE_TRY(const pq::Rows rows, in_snapshot(pool_, options_.longest_statement, [&](pq::Connection& connection) {
               return read_unsubscribed(connection, current_walks());
             }));
  return pq::collect(rows, [&](int row) {
    return UnsubscribedCount{rows.int8(row, 0), std::string{rows.text(row, 1)}, rows.optional_text(row, 2),
                             rows.int8(row, 3), rows.timestamptz(row, 4)};
  });
}

Result<void> PostgresStore::announce(const WorkerRecord& worker) {
  pq::Params params;
  params.text(std::string_view{worker.identity}).int8(worker.generation);
  {
    pq::Params::Array handlers = params.array(Element::text);
    for (const std::string& handler : worker.handlers) handlers.text(std::string_view{handler});
  }
  params.text(std::string_view{worker.listener});
  SLUICE_CHECK(run(writing(pg_sql::worker_announce), params));
  return {};
}

Result<void> PostgresStore::depart(const std::string& identity) {
  SLUICE_CHECK(run(writing(pg_sql::worker_depart), pq::Params{}.text(std::string_view{identity})));
  return {};
}

Result<std::vector<WorkerRecord>> PostgresStore::workers(Duration within) {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::worker_list), pq::Params{}.interval(within)));
  std::vector<WorkerRecord> workers;
  for (int row = 0; row < rows.size(); ++row) {
    SLUICE_TRY(auto handlers, texts_of(rows.text(row, 2)));
    workers.push_back({std::string{rows.text(row, 0)}, rows.int8(row, 1), std::move(handlers),
                       std::string{rows.text(row, 3)}, rows.timestamptz(row, 4), rows.timestamptz(row, 5)});
  }
  return workers;
}

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
