#include "core/json.hpp"
#include "core/try.hpp"
#include "store/sqlite/json_list.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

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
  SLUICE_TRY(auto found, connection.first(sql::sinks, {{":name", name}}, read_sink));
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
    SLUICE_CHECK(connection.each(sql::sinks, {{":name", std::nullopt}},
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
    const auto before = find_sink(connection, name);
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
