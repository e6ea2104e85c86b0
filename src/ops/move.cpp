#include "ops/move.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "crypto/digest.hpp"

namespace sluice::ops {
namespace {

constexpr int kMostPasses = 5;
// So few changed slices are copied in the time that publishers may wait.
constexpr std::int64_t kFewSlices = 10;
constexpr Duration kLook = std::chrono::milliseconds{100};
// Beyond the patience, so that a claim that is held is released by the switch and not by the clock.
constexpr Duration kHoldBeyond = std::chrono::minutes{2};
constexpr std::array<std::string_view, 4> kCounted{"outbox", "event_handled", "audit", "operations"};

Error refused(std::string message, std::string hint) {
  return {ErrorCode::conflict, Retry::never, std::move(message), "to", std::move(hint)};
}

/// What jsonb would change or refuse is said before anything is copied, with the event's name.
Result<void> check_event(const std::string& row) {
  SLUICE_TRY(const auto members, json::members(row, "row", {.depth = 2, .any_text = true}));
  std::string id;
  for (const json::Member& member : members) {
    if (member.name == "id") id = member.value.substr(1, member.value.size() - 2);
    if (member.name != "payload") continue;
    SLUICE_TRY(const auto payload, json::string_value(member.value, "payload", {.any_text = true}));
    const auto checked =
        json::check(payload, "payload", {.depth = json::kMaxDepth, .stored_bytes = payload.size() * 4 + 1024});
    if (checked) continue;
    return Error{
        ErrorCode::invalid, Retry::never, "event " + id + " cannot be moved: " + checked.error().message, "payload",
        "PostgreSQL cannot hold this payload as it is: correct it in the file (update outbox set payload = …), or "
        "deliver the event and let retention delete it"};
  }
  return {};
}

std::string digest_of(const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows) (text += row) += '\n';
  return crypto::to_hex(crypto::sha256(text));
}

class Mover {
 public:
  Mover(store::MoveTarget& to, const MoveHost& host) : to_(to), host_(host) {}

  Result<void> learn() {
    SLUICE_TRY(const auto moved, to_.moved_slices());
    for (const store::MovedSlice& one : moved) known_[one.slice] = one;
    return {};
  }

  /// All of them. How many had changed since they were copied.
  Result<std::int64_t> pass(store::MoveRows& from) {
    SLUICE_TRY(auto slices, from.slices());
    std::set<store::MoveSlice> gone;
    for (const auto& [slice, moved] : known_) gone.insert(slice);
    for (const store::MoveSlice& slice : slices) gone.erase(slice);
    slices.insert(slices.end(), gone.begin(), gone.end());
    return copy_all(from, slices, "copy");
  }

  /// Those that were written to since. How many had changed.
  Result<std::int64_t> catch_up(store::MoveRows& from, store::MoveNotes& notes, const char* phase) {
    SLUICE_TRY(const auto slices, from.touched(notes));
    return copy_all(from, slices, phase);
  }

  /// Counts what is stored, table by table.
  Result<void> count() {
    SLUICE_TRY(const auto totals, to_.move_totals());
    const auto tables = report();
    for (std::size_t at = 0; at < kCounted.size(); ++at) {
      const auto found = tables.find(std::string{kCounted[at]});
      const std::int64_t expected = found == tables.end() ? 0 : found->second.rows;
      if (totals.at(at) == expected) continue;
      return refused(
          "the new store has " + counted(totals.at(at), "row") + " in core." + std::string{kCounted[at]} +
              ", the old one " + std::to_string(expected),
          "somebody else writes to the new store; empty it (drop schema core cascade; sluice db migrate) and "
          "begin again");
    }
    return {};
  }

  [[nodiscard]] std::map<std::string, MovedTable> report() const {
    std::map<std::string, MovedTable> tables;
    for (const auto& [slice, moved] : known_) {
      MovedTable& table = tables[slice.table];
      table.rows += moved.rows;
      table.digest = crypto::to_hex(crypto::sha256(table.digest + moved.digest));
    }
    return tables;
  }

 private:
  Result<std::int64_t> copy_all(store::MoveRows& from, const std::vector<store::MoveSlice>& slices, const char* phase) {
    std::int64_t copied = 0;
    MoveProgress progress{phase, {}, 0, static_cast<std::int64_t>(slices.size())};
    for (const store::MoveSlice& slice : slices) {
      progress.table = slice.table;
      host_.tell(progress);
      SLUICE_TRY(const bool changed, copy(from, slice));
      copied += changed ? 1 : 0;
      ++progress.done;
      if (host_.wait(Duration::zero()))
        return refused("the move was broken off", "run it again: it goes on where it was");
    }
    host_.tell(progress);
    return copied;
  }

  Result<bool> copy(store::MoveRows& from, const store::MoveSlice& slice) {
    SLUICE_TRY(const auto rows, from.rows(slice));
    // A part of a table that has nothing left.
    if (rows.empty() && !slice.slice.empty()) {
      if (known_.erase(slice) == 0) return false;
      SLUICE_CHECK(to_.import_slice({slice, {}, 0}, {}));
      return true;
    }
    store::MovedSlice moved{slice, digest_of(rows), static_cast<std::int64_t>(rows.size())};
    const auto known = known_.find(slice);
    const bool changed = known == known_.end() || known->second.digest != moved.digest;
    // These are touched by what is taken in before them.
    const bool always = slice.table == "operation_items" || slice.table == "failure_groups";
    if (!changed && !always) return false;
    if (slice.table == "outbox") {
      for (const std::string& row : rows) SLUICE_CHECK(check_event(row));
    }
    SLUICE_CHECK(to_.import_slice(moved, rows));
    known_[slice] = std::move(moved);
    return changed;
  }

  store::MoveTarget& to_;
  const MoveHost& host_;
  std::map<store::MoveSlice, store::MovedSlice> known_;
};

Result<void> check_target(const store::MoveState& state, const MoveOrder& order) {
  if (state.has_workers) {
    return refused("workers are at work in " + order.home, "stop them until the move is over");
  }
  const auto& owner = state.moving_from ? state.moving_from : state.moved_from;
  if (owner && *owner != order.from) {
    return refused(order.home + " belongs to a move from " + *owner, "move to a database of its own");
  }
  if (!owner && state.holds_rows) {
    return refused(order.home + " is not empty", "move to a database of its own: create one, then `sluice db migrate`");
  }
  return {};
}

Result<void> check_source(store::MoveSource& from) {
  SLUICE_TRY(const auto home, from.home());
  if (!home) return {};
  return refused("this store has moved to " + *home + " already", "`--back` returns, while nothing has changed there");
}

/// How many are left when the patience is over.
Result<std::int64_t> drain(store::MoveSource& from, const MoveOrder& order, const MoveHost& host) {
  SLUICE_CHECK(from.hold_claims(order.patience + kHoldBeyond, order.home));
  const auto deadline = host.clock() + order.patience;
  for (;;) {
    SLUICE_TRY(const std::int64_t left, from.in_flight());
    host.tell({"drain", "outbox", 0, left});
    if (left == 0 || host.clock() >= deadline) return left;
    if (host.wait(kLook)) return refused("the move was broken off", "run it again: it goes on where it was");
  }
}

Result<void> switch_over(store::MoveSource& from, store::MoveTarget& to, const MoveOrder& order, const MoveHost& host,
                         Mover& mover, store::MoveNotes& notes, MoveReport& report) {
  const auto begun = host.clock();
  SLUICE_TRY(const auto held, from.begin_switch());
  SLUICE_TRY(const std::int64_t copied, mover.catch_up(*held, notes, "switch"));
  report.copied += copied;
  SLUICE_CHECK(mover.count());
  SLUICE_CHECK(to.finish_move(order.actor));
  SLUICE_CHECK(held->moved_to(order.home));
  report.held = std::chrono::duration_cast<Duration>(host.clock() - begun);
  return {};
}

/// Until little is left, or it does not get less.
Result<void> catch_up(store::MoveSource& from, Mover& mover, store::MoveNotes& notes, MoveReport& report) {
  for (std::int64_t changed = kFewSlices + 1; changed > kFewSlices && report.passes < kMostPasses; ++report.passes) {
    SLUICE_TRY(changed, mover.catch_up(from, notes, "copy"));
    report.copied += changed;
  }
  return {};
}

Result<void> copy_and_switch(store::MoveSource& from, store::MoveTarget& to, const MoveOrder& order,
                             const MoveHost& host, Mover& mover, MoveReport& report) {
  SLUICE_TRY(auto notes, from.note_writes());
  SLUICE_TRY(report.copied, mover.pass(from));
  report.passes = 1;
  SLUICE_CHECK(catch_up(from, mover, notes, report));
  SLUICE_TRY(report.in_flight, drain(from, order, host));
  // What was settled meanwhile is copied before writers have to wait.
  SLUICE_TRY(const std::int64_t settled, mover.catch_up(from, notes, "copy"));
  report.copied += settled;
  ++report.passes;
  return switch_over(from, to, order, host, mover, notes, report);
}

}  // namespace

store::MoveSource* move_source(store::Administering& store) { return store.move_source(); }
store::MoveTarget* move_target(store::Administering& store) { return store.move_target(); }

Result<MoveReport> move_store(store::MoveSource& from, store::MoveTarget& to, const MoveOrder& order,
                              const MoveHost& host) {
  SLUICE_CHECK(check_source(from));
  SLUICE_TRY(const auto state, to.move_state());
  SLUICE_CHECK(check_target(state, order));
  // An earlier run was ended between the two halves of its switch.
  if (state.moved_from) SLUICE_CHECK(to.undo_move());
  if (!state.moving_from && !state.moved_from) SLUICE_CHECK(to.begin_move(order.from));
  Mover mover{to, host};
  SLUICE_CHECK(mover.learn());
  MoveReport report;
  if (auto switched = copy_and_switch(from, to, order, host, mover, report); !switched) {
    // Nobody waits for a hold that serves nothing any more; it would end by itself.
    (void)from.hold_claims(Duration::zero(), order.home);
    return std::move(switched).error();
  }
  report.tables = mover.report();
  return report;
}

Result<MoveReport> preview_move(store::MoveSource& from, store::MoveTarget& to, const MoveOrder& order,
                                const MoveHost& host) {
  SLUICE_CHECK(check_source(from));
  SLUICE_TRY(const auto state, to.move_state());
  SLUICE_CHECK(check_target(state, order));
  MoveReport report;
  SLUICE_TRY(const auto slices, from.slices());
  MoveProgress progress{"copy", {}, 0, static_cast<std::int64_t>(slices.size())};
  for (const store::MoveSlice& slice : slices) {
    progress.table = slice.table;
    host.tell(progress);
    SLUICE_TRY(const auto rows, from.rows(slice));
    if (slice.table == "outbox") {
      for (const std::string& row : rows) SLUICE_CHECK(check_event(row));
    }
    MovedTable& table = report.tables[slice.table];
    table.rows += static_cast<std::int64_t>(rows.size());
    table.digest = crypto::to_hex(crypto::sha256(table.digest + digest_of(rows)));
    ++progress.done;
  }
  SLUICE_TRY(report.in_flight, from.in_flight());
  return report;
}

Result<MoveReport> move_back(store::MoveSource& from, store::MoveTarget& to, const MoveOrder& order,
                             const MoveHost& host) {
  SLUICE_TRY(const auto home, from.home());
  if (!home) return refused("this store has not moved", "there is nothing to take back");
  SLUICE_TRY(const auto state, to.move_state());
  SLUICE_CHECK(check_target(state, order));
  Mover mover{to, host};
  SLUICE_CHECK(mover.learn());
  MoveReport report;
  report.tables = mover.report();
  SLUICE_TRY(const auto held, from.begin_switch());
  SLUICE_TRY(const auto slices, held->slices());
  MoveProgress progress{"back", {}, 0, static_cast<std::int64_t>(slices.size())};
  for (const store::MoveSlice& slice : slices) {
    progress.table = slice.table;
    host.tell(progress);
    SLUICE_TRY(const auto rows, held->rows(slice));
    SLUICE_TRY(const std::int64_t differing, to.differing(slice, rows));
    if (differing != 0) {
      return refused(counted(differing, "row") + " of " + slice.table + " changed in " + *home + " since the move",
                     "going back would lose that; stay there");
    }
    ++progress.done;
  }
  SLUICE_CHECK(mover.count());
  if (state.moved_from) SLUICE_CHECK(to.undo_move());
  SLUICE_CHECK(held->taken_back());
  return report;
}

std::string to_json(const MoveReport& report, bool dry_run) {
  std::vector<std::string> tables;
  for (const auto& [name, table] : report.tables) {
    tables.push_back(JsonObject{}.text("table", name).number("rows", table.rows).text("digest", table.digest).str());
  }
  return JsonObject{}
      .boolean("dry_run", dry_run)
      .array("tables", tables)
      .number("passes", report.passes)
      .number("slices_copied", report.copied)
      .number("in_flight", report.in_flight)
      .number("held_ms", std::chrono::floor<std::chrono::milliseconds>(report.held).count())
      .str();
}

}  // namespace sluice::ops
