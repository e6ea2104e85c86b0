#include "core/json.hpp"
#include "core/try.hpp"
#include "store/sqlite/query_params.hpp"
#include "store/sqlite/sqlite_settle.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

constexpr Duration kForgetWorkersAfter = std::chrono::hours{24};

SubscriptionRecord read_subscription(Row& row) {
  SubscriptionRecord record;
  record.generation = row.integer();
  record.subscription.handler_name = row.text();
  record.subscription.event_types = read_list(row);
  record.subscription.context = row.optional_text();
  record.subscription.channel = row.optional_text();
  record.registered_at = row.timestamp();
  record.declared_by = row.text();
  record.served_at = row.timestamp();
  return record;
}

Result<std::vector<SubscriptionRecord>> list(Connection& connection, std::optional<Generation> generation) {
  std::vector<SubscriptionRecord> all;
  SLUICE_CHECK(connection.each(sql::subscription_list, {{":generation", generation}},
                               [&](Row& row) { all.push_back(read_subscription(row)); }));
  return all;
}

Result<void> change_registry(Connection& connection) {
  SLUICE_CHECK(connection.run(sql::registry_change, {}));
  return {};
}

SinkRecord read_sink(Row& row) {
  SinkRecord record;
  record.declared.name = row.text();
  record.declared.kind = row.text();
  record.declared.target = row.text();
  record.declared.handlers = read_list(row);
  record.state = parse_sink_switch(row.text()).value_or(SinkSwitch::disabled);
  record.changed_at = row.timestamp();
  record.changed_by = row.text();
  record.reason = row.text();
  record.opened_at = row.optional_timestamp();
  record.open_until = row.optional_timestamp();
  record.open_reason = row.text();
  record.declared_at = row.timestamp();
  return record;
}

Result<SinkRecord> find_sink(Connection& connection, const std::string& name) {
  SLUICE_TRY(auto found, connection.first(sql::sink_list, {{":name", name}}, read_sink));
  if (!found) return Error{ErrorCode::not_found, Retry::never, "there is no sink " + name, "name", {}};
  return *std::move(found);
}

std::string_view action_of(SinkSwitch to) {
  switch (to) {
    case SinkSwitch::active:
      return "sink.resume";
    case SinkSwitch::paused:
      return "sink.pause";
    case SinkSwitch::disabled:
      break;
  }
  return "sink.disable";
}

std::string sink_detail(const std::string& name, const std::string& rest) {
  std::string detail = "{\"sink\":";
  json::append_quoted(detail, name);
  return detail + rest + "}";
}

}  // namespace

Result<void> SqliteStore::subscribe(Generation generation, std::span<const Subscription> subscriptions,
                                    const std::string& declared_by) {
  if (generation < kFirstGeneration) return invalid("generation", "the generation must be at least 1");
  std::int64_t changed = 0;
  auto done = database_->write([&](Connection& connection) -> Result<void> {
    const Timestamp now = clock_();
    for (const Subscription& subscription : subscriptions) {
      SLUICE_TRY(auto written, connection.run(sql::subscribe, {{":generation", generation},
                                                               {":handler_name", subscription.handler_name},
                                                               {":event_types", json_list(subscription.event_types)},
                                                               {":context", subscription.context},
                                                               {":channel", subscription.channel},
                                                               {":now", now},
                                                               {":declared_by", declared_by}}));
      changed += written;
      // It may want less than before.
      if (written > 0) {
        SLUICE_CHECK(connection.run(sql::stop_waiting, {{":handler_name", subscription.handler_name},
                                                        {":generation", generation}}));
      }
      SLUICE_CHECK(connection.run(sql::subscription_declare, {{":declared_by", declared_by},
                                                              {":now", now},
                                                              {":generation", generation},
                                                              {":handler_name", subscription.handler_name}}));
    }
    if (changed == 0) return {};
    return change_registry(connection);
  });
  if (done && changed > 0) bell_->notify();
  return done;
}

Result<void> SqliteStore::unsubscribe(Generation generation, const std::string& handler_name, const Actor& actor) {
  auto done = database_->write([&](Connection& connection) -> Result<void> {
    SLUICE_TRY(auto deleted,
               connection.run(sql::unsubscribe, {{":generation", generation}, {":handler_name", handler_name}}));
    if (deleted == 0) {
      return Error{ErrorCode::not_found,
                   Retry::never,
                   "handler " + handler_name + " has no subscription in generation " + std::to_string(generation),
                   "handler_name",
                   {}};
    }
    SLUICE_CHECK(change_registry(connection));
    SLUICE_CHECK(connection.run(sql::stop_waiting, {{":handler_name", handler_name}, {":generation", generation}}));
    std::string detail = "{\"generation\":" + std::to_string(generation) + ",\"handler_name\":";
    json::append_quoted(detail, handler_name);
    return record_audit(connection, actor, {clock_(), "unsubscribe", std::nullopt, detail + "}"});
  });
  // What waited for this handler alone can be finished now.
  if (done) bell_->notify();
  return done;
}

Result<Registry> SqliteStore::registry(Generation generation) {
  // Asked for every few seconds by whoever delivers, and by whoever asks whether this process is ready.
  SLUICE_CHECK(database_->still_there());
  return database_->read([&](Connection& connection) -> Result<Registry> {
    SLUICE_TRY(auto version, registry_version(connection));
    SLUICE_TRY(auto subscribed, list(connection, generation));
    SLUICE_TRY(auto relay, read_relay(connection));
    return Registry{version, std::move(subscribed), std::move(relay)};
  });
}

Result<std::vector<SubscriptionRecord>> SqliteStore::subscriptions() {
  return database_->read([](Connection& connection) { return list(connection, std::nullopt); });
}

Result<std::vector<UnsubscribedCount>> SqliteStore::unsubscribed() {
  return database_->read([](Connection& connection) -> Result<std::vector<UnsubscribedCount>> {
    std::vector<UnsubscribedCount> counts;
    SLUICE_CHECK(connection.each(sql::unsubscribed, {}, [&](Row& row) {
      UnsubscribedCount count;
      count.generation = row.integer();
      count.event_type = row.text();
      count.target = row.optional_text();
      count.count = row.integer();
      count.oldest = row.timestamp();
      counts.push_back(std::move(count));
    }));
    return counts;
  });
}

Result<void> SqliteStore::announce(const WorkerRecord& worker) {
  return database_->write([&](Connection& connection) -> Result<void> {
    const Timestamp now = clock_();
    SLUICE_CHECK(connection.run(sql::worker_announce, {{":identity", worker.identity},
                                                       {":generation", worker.generation},
                                                       {":handlers", json_list(worker.handlers)},
                                                       {":listener", worker.listener},
                                                       {":now", now}}));
    SLUICE_CHECK(connection.run(sql::worker_forget, {{":before", now - kForgetWorkersAfter}}));
    SLUICE_CHECK(connection.run(sql::subscription_served, {{":now", now},
                                                           {":generation", worker.generation},
                                                           {":minute_ago", now - std::chrono::minutes{1}},
                                                           {":handlers", json_list(worker.handlers)}}));
    return {};
  });
}

Result<void> SqliteStore::depart(const std::string& identity) {
  return database_->write([&](Connection& connection) -> Result<void> {
    SLUICE_CHECK(connection.run(sql::worker_depart, {{":identity", identity}}));
    return {};
  });
}

Result<std::vector<WorkerRecord>> SqliteStore::workers(Duration within) {
  return database_->read([&](Connection& connection) -> Result<std::vector<WorkerRecord>> {
    std::vector<WorkerRecord> all;
    SLUICE_CHECK(connection.each(sql::worker_list, {{":since", clock_() - within}}, [&](Row& row) {
      WorkerRecord worker;
      worker.identity = row.text();
      worker.generation = row.integer();
      worker.handlers = read_list(row);
      worker.listener = row.text();
      worker.started_at = row.timestamp();
      worker.seen_at = row.timestamp();
      all.push_back(std::move(worker));
    }));
    return all;
  });
}

Result<void> SqliteStore::declare_sinks(std::span<const SinkDeclaration> sinks) {
  return database_->write([&](Connection& connection) -> Result<void> {
    for (const SinkDeclaration& sink : sinks) {
      SLUICE_CHECK(connection.run(sql::sink_declare, {{":name", sink.name},
                                                      {":kind", sink.kind},
                                                      {":target", sink.target},
                                                      {":handlers", json_list(sink.handlers)},
                                                      {":now", clock_()}}));
    }
    return {};
  });
}

Result<SinkRecords> SqliteStore::sinks() {
  return database_->read([&](Connection& connection) -> Result<SinkRecords> {
    SinkRecords records{clock_(), {}};
    SLUICE_CHECK(connection.each(sql::sink_list, {{":name", std::nullopt}},
                                 [&](Row& row) { records.sinks.push_back(read_sink(row)); }));
    return records;
  });
}

Result<SinkRecord> SqliteStore::switch_sink(const std::string& name, SinkSwitch to, const Actor& actor) {
  SLUICE_CHECK(need_reason(actor, "switch a sink"));
  return database_->write([&](Connection& connection) -> Result<SinkRecord> {
    auto before = find_sink(connection, name);
    if (!before) return before;
    const bool closes = to == SinkSwitch::active && before->open_until;
    if (!changes(before->state, to) && !closes) return before;
    const Timestamp now = clock_();
    SLUICE_CHECK(connection.run(sql::sink_switch, {{":state", sluice::name(to)},
                                                   {":now", now},
                                                   {":changed_by", actor.name},
                                                   {":reason", actor.reason},
                                                   {":name", name}}));
    const std::string moved = ",\"from\":\"" + std::string{sluice::name(before->state)} + "\",\"to\":\"" +
                              std::string{sluice::name(to)} + '"';
    SLUICE_CHECK(record_audit(connection, actor, {now, action_of(to), std::nullopt, sink_detail(name, moved)}));
    return find_sink(connection, name);
  });
}

Result<SinkRecord> SqliteStore::move_circuit(const std::string& name, std::optional<Duration> open_for,
                                             const Actor& actor) {
  return database_->write([&](Connection& connection) -> Result<SinkRecord> {
    auto before = find_sink(connection, name);
    if (!before) return before;
    const Timestamp now = clock_();
    const auto open_until = open_for ? std::optional{now + *open_for} : std::nullopt;
    SLUICE_CHECK(connection.run(
        sql::sink_circuit, {{":open_until", open_until}, {":now", now}, {":reason", actor.reason}, {":name", name}}));
    if (before->open_until.has_value() != open_for.has_value()) {
      const std::string_view action = open_for ? "sink.circuit_open" : "sink.circuit_close";
      SLUICE_CHECK(record_audit(connection, actor, {now, action, std::nullopt, sink_detail(name, "")}));
    }
    return find_sink(connection, name);
  });
}

}  // namespace sluice::store::sqlite
