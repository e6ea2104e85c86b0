#include "core/try.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

constexpr Duration kLongestLease = std::chrono::hours{24};

/// Where the walk goes on. What is not settled stands in two indexes: the pending events of each ordering key, then all
/// that waited or waits. New events without a key need no walk: every claim begins at the oldest of them. Settled ones
/// stand in neither, so nothing is read twice a day that was read once.
struct Place {
  std::string part = "keys";
  std::string at;  ///< an ordering key, or a due time
  std::int64_t generation = 0;
  std::int64_t blocked = 0;
  std::int64_t seq = 0;

  [[nodiscard]] bool at_the_beginning() const { return part == "keys" && at.empty(); }
};

struct Watch {
  std::string holder;
  std::optional<Timestamp> lease_until;
  Place place;

  /// A lease of days is from before the clock was set back.
  [[nodiscard]] bool held_by_another(const std::string& than, Timestamp now) const {
    return holder != than && lease_until && *lease_until > now && *lease_until < now + kLongestLease;
  }
};

struct Stranded {
  std::int64_t seq = 0;
  StrandedCause cause = StrandedCause::passed_over;
};

struct Seen {
  std::vector<Stranded> stranded;
  std::int64_t rows = 0;
  bool round_over = false;
  Place next;
};

Result<Watch> patrol_watch(Connection& connection) {
  SLUICE_TRY(auto found, connection.first(sql::patrol_state, {}, [](Row& row) {
    Watch state;
    state.holder = row.text();
    state.lease_until = row.optional_timestamp();
    state.place.part = row.text();
    state.place.at = row.text();
    state.place.generation = row.integer();
    state.place.blocked = row.integer();
    state.place.seq = row.integer();
    return state;
  }));
  return found.value_or(Watch{});
}

Result<void> walk_claims(Connection& connection, int limit, Seen& seen) {
  return connection.each(sql::patrol_no_claim, {{":limit", limit}}, [&](Row& row) {
    seen.stranded.push_back({row.integer(), StrandedCause::no_claim});
  });
}

Result<void> walk_keys(Connection& connection, int limit, Seen& seen) {
  bool more = true;
  const std::string after = seen.next.at;
  auto walked = connection.each(sql::patrol_keys, {{":after", after}, {":limit", limit}}, [&](Row& row) {
    const auto key = row.optional_text();
    const auto head = row.optional_integer();
    more = key.has_value();
    if (!key) return;
    ++seen.rows;
    seen.next.at = *key;
    if (head) seen.stranded.push_back({*head, StrandedCause::blocker_gone});
  });
  if (walked && !more) seen.next = Place{.part = "due"};
  return walked;
}

Result<void> walk_due(Connection& connection, Timestamp overdue, std::int64_t limit, Seen& seen) {
  std::int64_t rows = 0;
  const Place from = seen.next;
  auto walked = connection.each(sql::patrol_due,
                                {{":overdue", overdue},
                                 {":generation", from.generation},
                                 {":blocked", from.blocked},
                                 {":place", from.at},
                                 {":seq", from.seq},
                                 {":limit", limit}},
                                [&](Row& row) {
                                  ++rows;
                                  seen.next.generation = row.integer();
                                  seen.next.blocked = row.integer();
                                  seen.next.at = row.text();
                                  seen.next.seq = row.integer();
                                  const bool stranded = row.boolean();
                                  if (stranded) seen.stranded.push_back({seen.next.seq, StrandedCause::passed_over});
                                });
  seen.rows += rows;
  if (walked && rows < limit) {
    seen.round_over = true;
    seen.next = Place{};
  }
  return walked;
}

Result<Seen> walk(Connection& connection, const Place& from, const PatrolRequest& request, Timestamp now) {
  Seen seen;
  seen.next = from;
  if (from.at_the_beginning()) {
    SLUICE_CHECK(walk_claims(connection, request.rows, seen));
  }
  if (seen.next.part == "keys") {
    SLUICE_CHECK(walk_keys(connection, request.rows, seen));
  }
  if (seen.next.part == "due" && seen.rows < request.rows) {
    SLUICE_CHECK(walk_due(connection, now - request.overlooked_after, request.rows - seen.rows, seen));
  }
  return seen;
}

Result<void> mend(Connection& connection, const Stranded& one, Timestamp now) {
  Result<std::int64_t> mended = std::int64_t{0};
  switch (one.cause) {
    case StrandedCause::passed_over:
      mended = connection.run(sql::patrol_make_due, {{":now", now}, {":seq", one.seq}});
      break;
    case StrandedCause::no_claim:
      mended = connection.run(sql::patrol_expire, {{":now", now}, {":seq", one.seq}});
      break;
    case StrandedCause::blocker_gone:
      mended = connection.run(sql::patrol_unwant, {{":seq", one.seq}});
      if (mended) mended = connection.run(sql::patrol_release, {{":seq", one.seq}});
      break;
  }
  if (!mended) return std::move(mended).error();
  return {};
}

Result<std::vector<PatrolStep::Healed>> heal(Connection& connection, const std::vector<Stranded>& stranded,
                                             Timestamp now) {
  std::vector<PatrolStep::Healed> healed;
  for (const Stranded& one : stranded) {
    SLUICE_CHECK(mend(connection, one, now));
    SLUICE_TRY(auto recorded,
               connection.first(sql::patrol_record, {{":now", now}, {":cause", name(one.cause)}, {":seq", one.seq}},
                                [](Row& row) { return row.uuid(); }));
    if (recorded) healed.push_back({*recorded, one.cause});
  }
  if (healed.empty()) return healed;
  SLUICE_CHECK(connection.run(sql::patrol_forget, {}));
  return healed;
}

Result<void> save(Connection& connection, const PatrolRequest& request, const Place& next, Timestamp now) {
  SLUICE_CHECK(connection.run(sql::patrol_save, {{":holder", request.holder},
                                                 {":lease_until", now + request.lease},
                                                 {":part", next.part},
                                                 {":place", next.at},
                                                 {":generation", next.generation},
                                                 {":blocked", next.blocked},
                                                 {":seq", next.seq}}));
  return {};
}

}  // namespace

Result<PatrolStep> SqliteStore::patrol(const PatrolRequest& request) {
  if (request.rows < 1) return invalid("rows", "a step of the patrol must look at one row at least");
  /// None: another process patrols.
  const auto look = [&](Connection& connection, Timestamp now) -> Result<std::optional<Seen>> {
    SLUICE_TRY(auto state, patrol_watch(connection));
    if (state.held_by_another(request.holder, now)) return std::optional<Seen>{};
    SLUICE_TRY(auto seen, walk(connection, state.place, request, now));
    return std::optional{std::move(seen)};
  };
  // Nobody waits for a walk that finds nothing, as it should be: it is a reader's.
  auto seen = database_->read([&](Connection& connection) { return look(connection, clock_()); });
  if (!seen) return std::move(seen).error();
  if (!*seen) return PatrolStep{};
  const bool found = !(*seen)->stranded.empty();
  auto step = database_->write(found ? Durability::synced : Durability::lazy,
                               [&](Connection& connection) -> Result<PatrolStep> {
                                 const Timestamp now = clock_();
                                 // What was found may have moved since.
                                 if (found) seen = look(connection, now);
                                 if (!seen) return std::move(seen).error();
                                 if (!*seen) return PatrolStep{};
                                 SLUICE_TRY(auto healed, heal(connection, (*seen)->stranded, now));
                                 SLUICE_CHECK(save(connection, request, (*seen)->next, now));
                                 return PatrolStep{true, (*seen)->round_over, (*seen)->rows, std::move(healed)};
                               });
  if (step && !step->healed.empty()) bell_->notify();
  return step;
}

}  // namespace sluice::store::sqlite
