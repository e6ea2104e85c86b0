// Deliveries through a broker: what its consumers report, and the switch.
#include <algorithm>

#include "core/json.hpp"
#include "core/try.hpp"
#include "store/sqlite/sqlite_settle.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

struct RelayedRow {
  std::string id;
  std::int64_t replay = 0;
  std::string progress;
  std::string status;
  bool relayed = false;
  std::optional<Timestamp> replayed_at;
};

Result<std::optional<RelayedRow>> read_relayed(Connection& connection, const Uuid& id) {
  return connection.first(sql::relayed_get, {{":id", id}}, [](Row& row) {
    RelayedRow found;
    found.id = row.text();
    found.replay = row.integer();
    found.progress = row.text();
    found.status = row.text();
    found.relayed = row.integer() != 0;
    found.replayed_at = row.optional_timestamp();
    return found;
  });
}

Result<std::string> with_own(const RelayedRow& row, const HandlerProgress& own) {
  SLUICE_TRY(auto all, progress_from_json(row.progress));
  std::erase_if(all, [&](const HandlerProgress& one) { return one.handler_name == own.handler_name; });
  all.push_back(own);
  return progress_to_json(all);
}

Result<Reported> report_one(Connection& connection, const ConsumerReport& report, Timestamp now) {
  const HandlerProgress& own = report.progress;
  if (report.handled) {
    SLUICE_CHECK(record_handled(connection, {own.handler_name, report.idempotency_key}, report.event_id, now));
    return Reported::done;
  }
  SLUICE_TRY(const auto row, read_relayed(connection, report.event_id));
  if (!row || row->replay != report.replay || !row->relayed) return Reported::stale;
  if (row->status == "pending" || row->status == "in_flight") return Reported::early;
  SLUICE_TRY(const std::string progress, with_own(*row, own));
  if (own.out_of_attempts && row->status == "delivered") {
    SLUICE_CHECK(connection.run(sql::relay_fail, {{":progress", progress},
                                                  {":attempts", own.attempts},
                                                  {":last_error", own.last_error},
                                                  {":failure_class", own.error_class},
                                                  {":fingerprint", own.fingerprint},
                                                  {":now", now},
                                                  {":id", report.event_id}}));
  } else {
    SLUICE_CHECK(connection.run(
        sql::relay_note,
        {{":progress", progress}, {":attempts", own.attempts}, {":now", now}, {":id", report.event_id}}));
  }
  return Reported::done;
}

}  // namespace

Result<RelaySwitch> read_relay(Connection& connection) {
  SLUICE_TRY(auto found, connection.first(sql::relay_state, {}, [](Row& row) {
    RelaySwitch read = parse_relay(row.text());
    read.changed_at = row.optional_timestamp().value_or(Timestamp{});
    read.changed_by = row.text();
    read.reason = row.text();
    return read;
  }));
  return found.value_or(RelaySwitch{});
}

Result<std::vector<Reported>> SqliteStore::report(std::span<const ConsumerReport> reports) {
  if (reports.empty()) return std::vector<Reported>{};
  return database_->write([&](Connection& connection) -> Result<std::vector<Reported>> {
    std::vector<Reported> answers;
    for (const ConsumerReport& report : reports) {
      SLUICE_TRY(const Reported answer, report_one(connection, report, clock_()));
      answers.push_back(answer);
      if (answer != Reported::done) continue;
      AttemptList attempts;
      for (const Attempt& attempt : report.attempts) attempts.add(report.event_id, 0, attempt);
      SLUICE_CHECK(record_attempts(connection, attempts, clock_()));
    }
    return answers;
  });
}

Result<std::vector<RelayedEvent>> SqliteStore::relayed(std::span<const Uuid> ids) {
  return database_->read([&](Connection& connection) -> Result<std::vector<RelayedEvent>> {
    std::vector<RelayedEvent> events;
    for (const Uuid& id : ids) {
      SLUICE_TRY(const auto row, read_relayed(connection, id));
      if (!row) continue;
      SLUICE_TRY(auto progress, progress_from_json(row->progress));
      events.push_back({id, row->replay, std::move(progress), row->replayed_at});
    }
    return events;
  });
}

Result<RelaySwitch> SqliteStore::relay() { return database_->read(read_relay); }

Result<RelaySwitch> SqliteStore::switch_relay(RelayState to, const std::string& broker, const Actor& actor) {
  SLUICE_CHECK(need_reason(actor, "switch the relay"));
  if (to != RelayState::off && broker != "nats" && broker != "redis") {
    return invalid("broker", "the broker must be nats or redis");
  }
  return database_->write([&](Connection& connection) -> Result<RelaySwitch> {
    const std::string value{name(to)};
    SLUICE_TRY(const RelaySwitch before, read_relay(connection));
    SLUICE_TRY(const auto changed,
               connection.run(sql::relay_switch, {{":value", to == RelayState::off ? value : value + ' ' + broker}}));
    if (changed == 0) return before;
    SLUICE_CHECK(connection.run(sql::registry_change, {}));
    const auto text = [](const RelaySwitch& one) {
      return std::string{name(one.state)} + (one.broker.empty() ? "" : " " + one.broker);
    };
    const std::string detail =
        R"({"from":")" + text(before) + R"(","to":")" + (to == RelayState::off ? value : value + ' ' + broker) + "\"}";
    SLUICE_CHECK(record_audit(connection, actor, {clock_(), "relay." + value, std::nullopt, detail}));
    return read_relay(connection);
  });
}

}  // namespace sluice::store::sqlite
