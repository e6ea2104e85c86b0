#include <algorithm>
#include <utility>

#include "core/try.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"
#include "store/postgres/pq_error.hpp"
#include "store/postgres/route_pattern.hpp"

namespace sluice::store {
namespace {

// Columns of claim.sql; claim_stretch.sql lacks the last three.
enum ClaimColumn {
  kBatch,
  kTid,
  kId,
  kSeq,
  kClaimSeq,
  kAttempts,
  kEventType,
  kEventVersion,
  kOccurredAt,
  kSource,
  kTarget,
  kWorkspace,
  kPayload,
  kIdempotencyKey,
  kTraceContext,
  kChannel,
  kOrderingKey,
  kClaimedAt,
  kProgress,
  kWaited,
  kHead,
  kTop,
  kDueAge,
};

// A claim that has something asks so many times for the rest.
constexpr int kRefills = 3;
bool is_most(std::size_t events, int limit) { return 4 * events >= 3 * static_cast<std::size_t>(limit); }
constexpr auto kForgetEvery = std::chrono::seconds{10};

ClaimedEvent claimed_event(const pq::Rows& rows, int row, Generation generation) {
  EnvelopeDraft draft;
  draft.event_id = rows.uuid(row, kId);
  draft.event_type = rows.text(row, kEventType);
  draft.event_version = rows.int4(row, kEventVersion);
  draft.occurred_at = rows.timestamptz(row, kOccurredAt);
  draft.source = rows.text(row, kSource);
  draft.target = rows.optional_text(row, kTarget);
  draft.workspace_id = rows.optional_uuid(row, kWorkspace);
  const bool readable = !rows.is_null(row, kPayload);
  draft.payload = readable ? rows.text(row, kPayload) : "null";
  draft.idempotency_key = std::string{rows.text(row, kIdempotencyKey)};
  draft.trace_context = rows.optional_text(row, kTraceContext);
  const ClaimRef claim{draft.event_id, rows.int8(row, kClaimSeq), rows.tid(row, kTid), rows.int8(row, kBatch),
                       draft.occurred_at};
  return {EventEnvelope::trusted(std::move(draft)),
          claim,
          generation,
          std::string{rows.text(row, kChannel)},
          rows.optional_text(row, kOrderingKey),
          rows.int4(row, kAttempts),
          rows.timestamptz(row, kClaimedAt),
          progress_column(rows, row, kProgress),
          readable ? std::nullopt : std::optional{payload_unreadable(std::nullopt)},
          !rows.boolean(row, kWaited)};
}

// The rows that hold an event, in the order of their numbers: the update returns them in the order of their places in
// the table, which is most often the same.
std::vector<std::pair<std::int64_t, int>> in_order(const pq::Rows& rows) {
  std::vector<std::pair<std::int64_t, int>> order;
  order.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    if (!rows.is_null(row, kId)) order.emplace_back(rows.int8(row, kSeq), row);
  }
  if (!std::is_sorted(order.begin(), order.end())) std::sort(order.begin(), order.end());
  return order;
}

void append(std::vector<ClaimedEvent>& events, std::vector<ClaimedEvent>&& more) {
  if (events.empty()) return events.swap(more);
  std::move(more.begin(), more.end(), std::back_inserter(events));
}

// The same for every worker that serves the same events.
std::string group_key(const ClaimRequest& request) {
  std::string key = std::to_string(request.generation);
  for (const std::string& pattern : route_patterns(request.interests)) key += '|' + pattern;
  return key;
}

}  // namespace

Result<PostgresStore::ScanGroup*> PostgresStore::scan_group(const std::string& key) {
  {
    const std::scoped_lock lock{mutex_};
    const auto found = scan_groups_.find(key);
    if (found != scan_groups_.end() && still_known(found->second, found->second.learnt)) return &found->second;
  }
  Result<pq::Pool::Lease> lease = pool_.lease();
  if (!lease) return std::move(lease).error();
  const std::uint64_t learnt = pool_.opened();
  const Result<pq::Rows> saved = (*lease)->run(reading(pg_sql::cursor_load), pq::Params{}.text(std::string_view{key}));
  if (!saved) return saved.error();
  const std::int64_t low = saved->empty() ? 0 : saved->int8(0, 0);
  const std::scoped_lock lock{mutex_};
  ScanGroup& group = scan_groups_[key];
  // Claims that a crash has undone were due before the last scan.
  for (auto& [whose, due] : due_looks_) {
    due.not_before = {};
    due.again = true;
  }
  // Somebody may have loaded it meanwhile, and others may have worked with it since.
  if (group.learnt < learnt) {
    // Whoever scans from the mark goes on: a second one would come no further any sooner.
    group = ScanGroup{
        .learnt = learnt, .stretches = ScanStretches{low}, .low = low, .left_to_another = group.left_to_another};
  }
  return &group;
}

Result<PostgresStore::Taken> PostgresStore::take(const ClaimRequest& request, const Stretch& stretch, int limit,
                                                 bool due, std::span<const std::int64_t> next, Duration within) {
  pq::Params params;
  params.int8(request.generation)
      .text(std::string_view{request.worker})
      .int4(limit)
      .interval(request.ttl)
      .int8(stretch.after)
      .int8(stretch.upto);
  params.texts_or_null(route_patterns(request.interests));
  params.texts_or_null(request.handlers).texts_or_null(lanes(request.handlers)).boolean(due);
  add_numbers(params, next);
  params.interval(within);
  Result<pq::Rows> rows = run(writing(careful_ ? pg_sql::claim_carefully : pg_sql::claim), params);
  // One payload that cannot be written fails the whole statement, and nothing was claimed.
  if (!rows && pq::is_out_of_memory(rows.error())) {
    careful_ = true;
    rows = run(writing(pg_sql::claim_carefully), params);
  }
  if (!rows) return rows.error();

  StretchView view;
  if (!rows->empty()) {
    if (!rows->is_null(0, kHead)) view.looked_up_to = rows->int8(0, kHead);
    if (!rows->is_null(0, kTop)) view.top = rows->int8(0, kTop);
  }
  Taken taken = taken_from(*rows, request, stretch, view);
  if (!rows->empty() && !rows->is_null(0, kDueAge)) taken.due_age = std::chrono::microseconds{rows->int8(0, kDueAge)};
  // Trying costs a gigabyte each time: not again before there was nothing of the kind.
  if (careful_) {
    careful_ = std::any_of(taken.events.begin(), taken.events.end(),
                           [](const ClaimedEvent& event) { return event.unreadable.has_value(); });
  }
  return taken;
}

Result<PostgresStore::Taken> PostgresStore::take_swiftly(const ClaimRequest& request, const Stretch& stretch,
                                                         Duration within) {
  pq::Params params;
  params.int8(request.generation)
      .text(std::string_view{request.worker})
      .interval(request.ttl)
      .int8(stretch.after)
      .int8(stretch.upto);
  params.texts_or_null(route_patterns(request.interests));
  params.texts_or_null(request.handlers).texts_or_null(lanes(request.handlers)).interval(within);
  const Result<pq::Rows> rows = run(writing(pg_sql::claim_stretch), params);
  if (!rows) return rows.error();
  return taken_from(*rows, request, stretch, {.looked_up_to = stretch.upto});
}

PostgresStore::Taken PostgresStore::taken_from(const pq::Rows& rows, const ClaimRequest& request,
                                               const Stretch& stretch, const StretchView& view) {
  Taken taken{.view = view};
  const auto order = in_order(rows);
  taken.events.reserve(order.size());
  for (const auto& [seq, row] : order) {
    if (seq > stretch.after && seq <= view.looked_up_to.value_or(stretch.after)) ++taken.view.found;
    taken.view.keyed = taken.view.keyed || !rows.is_null(row, kOrderingKey);
    taken.events.push_back(claimed_event(rows, row, request.generation));
  }
  if (!taken.events.empty() && request.settled_here) {
    std::vector<Uuid> ids;
    ids.reserve(taken.events.size());
    for (const ClaimedEvent& event : taken.events) ids.push_back(event.claim.event_id);
    OpenBatch open{ids, std::chrono::steady_clock::now() + request.ttl};
    const std::scoped_lock lock{mutex_};
    forget_expired_claims();
    open_claims_.add(rows.int8(0, kBatch), std::move(open));
  }
  return taken;
}

// Whoever claimed them hung or gave up; a reaper, here or elsewhere, has taken the events back.
void PostgresStore::forget_expired_claims() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_forget_) return;
  next_forget_ = now + kForgetEvery;
  open_claims_.forget_expired(now);
}

// A part of the backlog that no other process of the group gets.
Result<void> PostgresStore::reserve(const std::string& key, ScanGroup& group, int limit) {
  std::optional<ScanStretches::Wish> wish;
  std::uint64_t learnt = 0;
  {
    const std::scoped_lock lock{mutex_};
    learnt = group.learnt;
    wish = group.stretches.wish(limit);
  }
  if (!wish) return {};
  pq::Params params;
  params.text(std::string_view{key}).int8(wish->after).int8(wish->length).int8(wish->top);
  const Result<pq::Rows> rows = run(writing(pg_sql::claim_reserve), params);
  if (!rows) return rows.error();
  const std::scoped_lock lock{mutex_};
  if (!still_known(group, learnt)) return {};
  if (rows->boolean(0, 1)) {
    group.stretches.granted(rows->int8(0, 0), wish->length);
  } else {
    group.stretches.refused(rows->int8(0, 0));
  }
  return {};
}

// Those that waited for a key and need not any more, the oldest first, which lets the floor of the keys follow: half of
// a claim, or every second claim of one, while new ones lie ahead. Long chains of keys hold up nobody. Under mutex_.
std::vector<std::int64_t> PostgresStore::next_of_keys(ScanGroup& group, int room, bool larger_half) {
  const int share = group.stretches.is_behind() ? (room + (larger_half ? 1 : 0)) / 2 : room;
  const auto end = std::next(group.next.begin(), std::min<std::ptrdiff_t>(share, std::ssize(group.next)));
  std::vector<std::int64_t> next{group.next.begin(), end};
  group.next.erase(group.next.begin(), end);
  return next;
}

void PostgresStore::remember(const EventNumbers& next) {
  if (next.numbers.empty()) return;
  const std::scoped_lock lock{mutex_};
  for (auto& [key, group] : scan_groups_) {
    for (std::size_t i = 0; i < next.numbers.size() && group.next.size() < std::size_t{kMostNext}; ++i) {
      if (is_of_generation(key, next.generations[i])) group.next.insert(next.numbers[i]);
    }
  }
}

// What is due and what is new. A claim that took nothing says nothing about what lies behind the numbers it looked at,
// and one that took little may have had a stretch that was short: whoever gets few takes it for the end of a backlog.
Result<std::vector<ClaimedEvent>> PostgresStore::claim_ahead(const std::string& key, const ClaimRequest& request,
                                                             ScanGroup& group, int limit) {
  std::vector<ClaimedEvent> events;
  bool waited_first = false;
  {
    const std::scoped_lock lock{mutex_};
    waited_first = group.waited_first = !group.waited_first;
  }
  for (int refills = 0; refills < kRefills;) {
    const int room = limit - static_cast<int>(events.size());
    // What was claimed must reach the caller, whatever becomes of the rest.
    if (auto reserved = reserve(key, group, request.limit); !reserved) {
      if (!events.empty()) return events;
      return std::move(reserved).error();
    }
    Stretch stretch;
    std::vector<std::int64_t> next;
    std::uint64_t learnt = 0;
    bool only_new = false;
    {
      const std::scoped_lock lock{mutex_};
      learnt = group.learnt;
      stretch = group.stretches.next(room);
      next = next_of_keys(group, room, waited_first);
      // Of claims of one every second is for what is new: what a key makes due, one event after the other, may go on.
      only_new = room == 1 && next.empty() && !waited_first && group.stretches.is_behind();
      stretch.swift = stretch.swift && next.empty() && !only_new;
    }
    Result<Taken> taken =
        only_new ? take(request, stretch, room, false, next, kEver) : take_due_first(key, request, stretch, room, next);
    const std::scoped_lock lock{mutex_};
    const bool known = still_known(group, learnt);
    if (!taken) {
      if (known) group.stretches.failed(stretch);
      if (known) group.next.insert(next.begin(), next.end());
      const bool too_large = pq::is_out_of_memory(taken.error());
      careful_ = careful_ || too_large;
      if (stretch.swift && (too_large || taken.error().code == ErrorCode::timeout)) continue;
      if (!events.empty()) return events;
      return std::move(taken).error();
    }
    if (known) group.stretches.seen(stretch, taken->view);
    // The stretch is kept, and asking for it again at once would go on for as long as the relay is on.
    if (taken->looked_at_nothing()) {
      if (known) group.next.insert(next.begin(), next.end());
      return events;
    }
    waited_first = waited_first || taken->events.empty();
    append(events, std::move(taken->events));
    const bool more = only_new || stretch.upto || !group.next.empty() ||
                      (taken->view.looked_up_to && taken->view.top && *taken->view.looked_up_to < *taken->view.top);
    if (!more || is_most(events.size(), limit)) return events;
    if (!events.empty()) ++refills;
  }
  return events;
}

Result<std::vector<ClaimedEvent>> PostgresStore::claim(const ClaimRequest& request) {
  if (request.limit < 1) return std::vector<ClaimedEvent>{};
  const std::string key = group_key(request);
  SLUICE_TRY(ScanGroup* const group, scan_group(key));
  {
    const std::scoped_lock lock{mutex_};
    group->used = std::chrono::steady_clock::now();
    group->users.insert(sorted(request.handlers));
  }

  std::vector<ClaimedEvent> found;
  if (look_back_first(*group)) {
    Result<std::vector<ClaimedEvent>> behind = claim_behind(key, request, *group, request.limit, false);
    if (!behind || is_most(behind->size(), request.limit)) return behind;
    found = std::move(*behind);
  }
  const int limit = request.limit - static_cast<int>(found.size());
  const Beginning beginning = begin_ahead(*group);
  Result<std::vector<ClaimedEvent>> events =
      beginning.elsewhere ? claim_due(key, request, *group, limit) : claim_ahead(key, request, *group, limit);
  if (beginning.learnt) end_beginning(*group, *beginning.learnt, events.has_value());
  if (!found.empty()) {
    if (events) append(found, *std::move(events));
    return found;
  }
  if (!events) return events;
  const int room = request.limit - static_cast<int>(events->size());
  const bool about_to_rest = events->empty();
  if (!beginning.elsewhere && wants_look_back(*group, about_to_rest, room)) {
    Result<std::vector<ClaimedEvent>> behind = claim_behind(key, request, *group, room, about_to_rest);
    // What was claimed must reach the caller, whatever became of the look back.
    if (behind) append(*events, *std::move(behind));
  }
  return events;
}

}  // namespace sluice::store
