#include "store/sqlite/sqlite_move.hpp"

#include <cstdlib>
#include <map>

#include "core/try.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

enum class Slicing { none, number, text };

struct MovedTable {
  const sql::Query& rows;
  Slicing slicing = Slicing::none;
};

const std::map<std::string_view, MovedTable>& moved_tables() {
  static const std::map<std::string_view, MovedTable> tables{
      {"settings", {sql::move_settings}},
      {"deployments", {sql::move_deployments}},
      {"subscriptions", {sql::move_subscriptions}},
      {"sinks", {sql::move_sinks}},
      {"outbox", {sql::move_outbox, Slicing::number}},
      {"event_handled", {sql::move_event_handled, Slicing::text}},
      {"operations", {sql::move_operations}},
      {"operation_items", {sql::move_operation_items, Slicing::text}},
      {"audit", {sql::move_audit, Slicing::number}},
      {"stranded", {sql::move_stranded}},
      {"ladder_samples", {sql::move_ladder_samples}},
      {"attempts", {sql::move_attempts, Slicing::text}},
      {"saved_filters", {sql::move_saved_filters}},
      {"failure_groups", {sql::move_failure_groups}},
  };
  return tables;
}

Result<std::vector<MoveSlice>> read_slices(Connection& connection) {
  std::vector<MoveSlice> slices;
  SLUICE_CHECK(connection.each(sql::move_slices, {}, [&](Row& row) {
    std::string table = row.text();
    slices.push_back({std::move(table), row.text()});
  }));
  return slices;
}

Result<MoveNotes> read_notes(Connection& connection) {
  SLUICE_TRY(auto notes, connection.first(sql::move_watched, {}, [](Row& row) {
    MoveNotes read;
    read.watch = row.integer();
    read.upto = row.integer();
    return read;
  }));
  return notes.value_or(MoveNotes{});
}

// The numbers first: what is written in between is noted above them.
Result<std::vector<MoveSlice>> read_touched(Connection& connection, MoveNotes& notes) {
  const auto now = read_notes(connection);
  if (!now || now->watch != notes.watch) {
    return Error{ErrorCode::conflict, Retry::safe, "another move of this store has begun or ended meanwhile", "from",
                 "let one move run at a time; run it again"};
  }
  std::vector<MoveSlice> slices;
  SLUICE_CHECK(connection.each(sql::move_touched, {{":since", notes.upto}}, [&](Row& row) {
    std::string table = row.text();
    slices.push_back({std::move(table), row.text()});
  }));
  notes = *now;
  return slices;
}

Result<std::vector<std::string>> read_rows(Connection& connection, const MoveSlice& slice) {
  const auto table = moved_tables().find(slice.table);
  if (table == moved_tables().end()) return invalid("table", "a move knows no table " + slice.table);
  std::vector<std::string> rows;
  const auto take = [&](Row& row) { rows.push_back(row.text()); };
  switch (table->second.slicing) {
    case Slicing::none:
      SLUICE_CHECK(connection.each(table->second.rows, {}, take));
      break;
    case Slicing::number:
      SLUICE_CHECK(connection.each(table->second.rows, {{":slice", std::atoll(slice.slice.c_str())}}, take));
      break;
    case Slicing::text:
      SLUICE_CHECK(connection.each(table->second.rows, {{":slice", slice.slice}}, take));
      break;
  }
  return rows;
}

/// The script with each `$name$` replaced; quotes are doubled, because they stand between quotes.
std::string filled(std::string_view script, const std::map<std::string_view, std::string>& values) {
  std::string text{script};
  for (const auto& [name, value] : values) {
    std::string quoted;
    for (const char c : value) quoted += c == '\'' ? std::string{"''"} : std::string{c};
    const std::string place = "$" + std::string{name} + "$";
    for (auto at = text.find(place); at != std::string::npos; at = text.find(place, at + quoted.size())) {
      text.replace(at, place.size(), quoted);
    }
  }
  return text;
}

class SqliteSwitch final : public MoveSwitch {
 public:
  explicit SqliteSwitch(WriteTransaction transaction) : transaction_(std::move(transaction)) {}

  Result<std::vector<MoveSlice>> slices() override { return read_slices(transaction_.connection()); }
  Result<std::vector<MoveSlice>> touched(MoveNotes& notes) override {
    return read_touched(transaction_.connection(), notes);
  }
  Result<std::vector<std::string>> rows(const MoveSlice& slice) override {
    return read_rows(transaction_.connection(), slice);
  }

  Result<void> moved_to(const std::string& home) override {
    Connection& connection = transaction_.connection();
    SLUICE_CHECK(connection.run(sql::move_leave, {{":home", home}}));
    SLUICE_CHECK(connection.script(sql::move_release.text));
    const std::string sentence = "this store has moved to " + home + ": name that one by --store or SLUICE_STORE";
    SLUICE_CHECK(connection.script(filled(sql::move_refuse.text, {{"message", sentence}})));
    return transaction_.commit();
  }

  Result<void> taken_back() override {
    Connection& connection = transaction_.connection();
    SLUICE_CHECK(connection.script(sql::move_release.text));
    SLUICE_CHECK(connection.run(sql::move_return, {}));
    return transaction_.commit();
  }

 private:
  WriteTransaction transaction_;
};

}  // namespace

Result<std::vector<MoveSlice>> SqliteStore::slices() { return database_->read(read_slices); }

Result<MoveNotes> SqliteStore::note_writes() {
  return database_->write([](Connection& connection) -> Result<MoveNotes> {
    SLUICE_CHECK(connection.script(sql::move_watch.text));
    return read_notes(connection);
  });
}

Result<std::vector<MoveSlice>> SqliteStore::touched(MoveNotes& notes) {
  return database_->read([&](Connection& connection) { return read_touched(connection, notes); });
}

Result<std::vector<std::string>> SqliteStore::rows(const MoveSlice& slice) {
  return database_->read([&](Connection& connection) { return read_rows(connection, slice); });
}

Result<std::optional<std::string>> SqliteStore::home() {
  return database_->read([](Connection& connection) -> Result<std::optional<std::string>> {
    return connection.first(sql::move_home, {}, [](Row& row) { return row.text(); });
  });
}

Result<std::int64_t> SqliteStore::in_flight() {
  return database_->read([](Connection& connection) -> Result<std::int64_t> {
    SLUICE_TRY(auto count, connection.first(sql::move_in_flight, {}, [](Row& row) { return row.integer(); }));
    return count.value_or(0);
  });
}

Result<void> SqliteStore::hold_claims(Duration length, const std::string& home) {
  return database_->write([&](Connection& connection) -> Result<void> {
    if (length <= Duration::zero()) return connection.script(sql::move_release.text);
    const Timestamp until = clock_() + length;
    return connection.script(
        filled(sql::move_hold_claims.text,
               {{"until", to_iso8601(until)}, {"message", "claims are held while this store moves to " + home}}));
  });
}

Result<std::unique_ptr<MoveSwitch>> SqliteStore::begin_switch() {
  SLUICE_TRY(auto transaction, database_->begin_write());
  return std::unique_ptr<MoveSwitch>{std::make_unique<SqliteSwitch>(std::move(transaction))};
}

}  // namespace sluice::store::sqlite
