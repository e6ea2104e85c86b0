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
  return Registry{version.int8(0, 0), std::move(records)};
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

}  // namespace sluice::store
