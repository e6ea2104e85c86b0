#include <algorithm>
#include <set>

#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

using Element = pq::Params::Element;

// Columns of claim.sql.
enum ClaimColumn {
  kHead,
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
};

constexpr int kRestAfterLook = 10;

struct Numbered {
  std::int64_t seq;
  ClaimedEvent event;
};

ClaimedEvent claimed_event(const pq::Rows& rows, int row, Generation generation) {
  EnvelopeDraft draft;
  draft.event_id = rows.uuid(row, kId);
  draft.event_type = rows.text(row, kEventType);
  draft.event_version = rows.int4(row, kEventVersion);
  draft.occurred_at = rows.timestamptz(row, kOccurredAt);
  draft.source = rows.text(row, kSource);
  draft.target = rows.optional_text(row, kTarget);
  draft.workspace_id = rows.optional_uuid(row, kWorkspace);
  draft.payload = rows.jsonb(row, kPayload);
  draft.idempotency_key = std::string{rows.text(row, kIdempotencyKey)};
  draft.trace_context = rows.optional_text(row, kTraceContext);
  const ClaimRef claim{draft.event_id, rows.int8(row, kClaimSeq), rows.tid(row, kTid), rows.int8(row, kBatch)};
  return {EventEnvelope::trusted(std::move(draft)),
          claim,
          generation,
          std::string{rows.text(row, kChannel)},
          rows.optional_text(row, kOrderingKey),
          rows.int4(row, kAttempts)};
}

// The same for every worker that serves the same rows.
std::string group_key(const ClaimRequest& request) {
  std::string key = std::to_string(request.generation);
  for (const auto* names : {&request.contexts, &request.channels}) {
    key += '|';
    for (const std::string& name : std::set<std::string>{names->begin(), names->end()}) key += name + ',';
  }
  return key;
}

}  // namespace

Result<PostgresStore::ScanGroup*> PostgresStore::scan_group(const std::string& key) {
  {
    const std::scoped_lock lock{mutex_};
    if (const auto found = scan_groups_.find(key); found != scan_groups_.end()) return &found->second;
  }
  const Result<pq::Rows> saved = run(reading(pg_sql::cursor_load), pq::Params{}.text(std::string_view{key}));
  if (!saved) return saved.error();
  const std::int64_t low = saved->empty() ? 0 : saved->int8(0, 0);
  const std::scoped_lock lock{mutex_};
  return &scan_groups_.try_emplace(key, ScanGroup{ScanCursor{low}, {}}).first->second;
}

Result<std::vector<ClaimedEvent>> PostgresStore::claim_range(const ClaimRequest& request, ScanGroup& group,
                                                             std::int64_t after, std::optional<std::int64_t> upto,
                                                             int limit) {
  pq::Params params;
  params.int8(request.generation)
      .text(std::string_view{request.worker})
      .int4(limit)
      .interval(request.ttl)
      .int8(after)
      .int8(upto);
  params.texts_or_null(request.contexts).texts_or_null(request.channels);
  const Result<pq::Rows> rows = run(writing(pg_sql::claim), params);
  if (!rows) return rows.error();

  std::vector<Numbered> numbered;
  numbered.reserve(static_cast<std::size_t>(rows->size()));
  for (int row = 0; row < rows->size(); ++row) {
    if (!rows->is_null(row, kId))
      numbered.push_back({rows->int8(row, kSeq), claimed_event(*rows, row, request.generation)});
  }
  if (!rows->empty()) {
    const std::scoped_lock lock{mutex_};
    if (!rows->is_null(0, kHead)) group.cursor.looked_up_to(rows->int8(0, kHead));
    if (!numbered.empty()) {
      std::set<Uuid>& open = open_claims_[rows->int8(0, kBatch)];
      for (const Numbered& one : numbered) open.insert(one.event.claim.event_id);
    }
  }
  // The update returns rows in the order of their place in the table.
  std::sort(numbered.begin(), numbered.end(), [](const Numbered& a, const Numbered& b) { return a.seq < b.seq; });
  std::vector<ClaimedEvent> events;
  events.reserve(numbered.size());
  for (Numbered& one : numbered) events.push_back(std::move(one.event));
  return events;
}

Result<std::vector<ClaimedEvent>> PostgresStore::claim_late(const ClaimRequest& request, const std::string& key,
                                                            ScanGroup& group, int limit) {
  ScanCursor cursor;
  {
    const std::scoped_lock lock{mutex_};
    cursor = group.cursor;
  }
  pq::Params params;
  params.int8(request.generation).int8(cursor.low()).int8(cursor.look_up_to());
  params.texts_or_null(request.contexts).texts_or_null(request.channels);
  const auto start = std::chrono::steady_clock::now();
  const Result<pq::Rows> rows = run(writing(pg_sql::scan_gap), params);
  if (!rows) return rows.error();
  const auto spent = std::chrono::steady_clock::now() - start;
  GapView view{rows->int8(0, 0), std::nullopt, rows->int8(0, 2)};
  if (!rows->is_null(0, 1)) view.first_open = rows->int8(0, 1);
  bool moved = false;
  std::int64_t low = 0;
  {
    const std::scoped_lock lock{mutex_};
    moved = group.cursor.gap_seen(view, cursor.head());
    // The gap is as wide as the oldest writing transaction is old. However wide, looking at it takes a
    // tenth of the time at most.
    if (options_.sweep_interval > Duration::zero()) {
      group.next_look = std::max(group.next_look, start + kRestAfterLook * spent);
    }
    low = group.cursor.low();
  }
  if (moved) {
    const Result<pq::Rows> saved =
        run(writing(pg_sql::cursor_save), pq::Params{}.text(std::string_view{key}).int8(low));
    if (!saved) return saved.error();
  }
  if (!view.first_open) return std::vector<ClaimedEvent>{};
  return claim_range(request, group, *view.first_open - 1, cursor.head(), limit);
}

Result<std::vector<ClaimedEvent>> PostgresStore::claim(const ClaimRequest& request) {
  if (request.limit < 1) return std::vector<ClaimedEvent>{};
  const std::string key = group_key(request);
  const Result<ScanGroup*> group = scan_group(key);
  if (!group) return group.error();

  std::int64_t head = 0;
  bool look_back = false;
  {
    const std::scoped_lock lock{mutex_};
    head = (*group)->cursor.head();
    const auto now = std::chrono::steady_clock::now();
    look_back = now >= (*group)->next_look;
    if (look_back) (*group)->next_look = now + options_.sweep_interval;
  }
  Result<std::vector<ClaimedEvent>> events = claim_range(request, **group, head, std::nullopt, request.limit);
  if (!events || !look_back) return events;

  const int room = request.limit - static_cast<int>(events->size());
  Result<std::vector<ClaimedEvent>> late = claim_late(request, key, **group, std::max(room, 1));
  // What was claimed must reach the caller, whatever became of the second look.
  if (late) std::move(late->begin(), late->end(), std::back_inserter(*events));
  return events;
}

std::vector<std::int64_t> PostgresStore::finished_batches(std::span<const SettleItem> items) {
  std::vector<std::int64_t> finished;
  const std::scoped_lock lock{mutex_};
  for (const SettleItem& item : items) {
    const auto open = open_claims_.find(item.claim.batch);
    if (open == open_claims_.end()) continue;
    open->second.erase(item.claim.event_id);
    if (!open->second.empty()) continue;
    finished.push_back(open->first);
    open_claims_.erase(open);
  }
  return finished;
}

Result<SettleReport> PostgresStore::settle(std::span<const SettleItem> items) {
  if (items.empty()) return SettleReport{};
  std::vector<const SettleItem*> delivered;
  std::vector<const SettleItem*> undelivered;
  for (const SettleItem& item : items)
    (item.settlement.next == Status::delivered ? delivered : undelivered).push_back(&item);
  // One order for everybody, so that two settles never wait for each other in a circle.
  const auto by_id = [](const SettleItem* a, const SettleItem* b) { return a->claim.event_id < b->claim.event_id; };
  std::sort(delivered.begin(), delivered.end(), by_id);
  std::sort(undelivered.begin(), undelivered.end(), by_id);

  pq::Params params;
  const auto column = [&](Element element, const std::vector<const SettleItem*>& from, auto add) {
    pq::Params::Array array = params.array(element);
    for (const SettleItem* item : from) add(array, *item);
  };
  column(Element::tid, delivered, [](auto& a, const SettleItem& i) { a.tid(i.claim.locator); });
  column(Element::uuid, delivered, [](auto& a, const SettleItem& i) { a.uuid(i.claim.event_id); });
  column(Element::int8, delivered, [](auto& a, const SettleItem& i) { a.int8(i.claim.claim_seq); });
  {
    pq::Params::Array batches = params.array(Element::int8);
    for (const std::int64_t batch : finished_batches(items)) batches.int8(batch);
  }
  column(Element::uuid, undelivered, [](auto& a, const SettleItem& i) { a.uuid(i.claim.event_id); });
  column(Element::int8, undelivered, [](auto& a, const SettleItem& i) { a.int8(i.claim.claim_seq); });
  column(Element::text, undelivered, [](auto& a, const SettleItem& i) { a.text(name(i.settlement.next)); });
  column(Element::boolean, undelivered, [](auto& a, const SettleItem& i) { a.boolean(i.settlement.counts_attempt); });
  column(Element::interval, undelivered, [](auto& a, const SettleItem& i) { a.interval(i.settlement.delay); });
  column(Element::timestamptz, undelivered,
         [](auto& a, const SettleItem& i) { a.timestamptz(i.settlement.not_before); });
  column(Element::text, undelivered,
         [](auto& a, const SettleItem& i) { a.text(std::string_view{i.settlement.last_error}); });
  column(Element::text, undelivered,
         [](auto& a, const SettleItem& i) { a.text(std::string_view{i.settlement.error_class}); });
  column(Element::text, undelivered,
         [](auto& a, const SettleItem& i) { a.text(std::string_view{i.settlement.fingerprint}); });
  const auto handled = [&](Element element, auto add) {
    pq::Params::Array array = params.array(element);
    for (const auto* from : {&delivered, &undelivered}) {
      for (const SettleItem* item : *from) {
        for (const std::string& handler : item->handled_by) add(array, *item, handler);
      }
    }
  };
  handled(Element::text,
          [](auto& a, const SettleItem&, const std::string& handler) { a.text(std::string_view{handler}); });
  handled(Element::text,
          [](auto& a, const SettleItem& i, const std::string&) { a.text(std::string_view{i.idempotency_key}); });
  handled(Element::uuid, [](auto& a, const SettleItem& i, const std::string&) { a.uuid(i.claim.event_id); });

  const Result<pq::Rows> fenced = run(writing(pg_sql::settle), params);
  if (!fenced) return fenced.error();
  SettleReport report;
  report.fenced = pq::collect(*fenced, [&](int row) { return fenced->uuid(row, 0); });
  report.settled = static_cast<int>(items.size() - report.fenced.size());
  return report;
}

Result<std::vector<Uuid>> PostgresStore::heartbeat(std::span<const ClaimRef> claims, Duration ttl) {
  if (claims.empty()) return std::vector<Uuid>{};
  std::vector<ClaimRef> sorted{claims.begin(), claims.end()};
  std::sort(sorted.begin(), sorted.end(), [](const ClaimRef& a, const ClaimRef& b) { return a.event_id < b.event_id; });
  pq::Params params;
  {
    pq::Params::Array ids = params.array(Element::uuid);
    for (const ClaimRef& claim : sorted) ids.uuid(claim.event_id);
  }
  {
    pq::Params::Array claim_seqs = params.array(Element::int8);
    for (const ClaimRef& claim : sorted) claim_seqs.int8(claim.claim_seq);
  }
  {
    pq::Params::Array batches = params.array(Element::int8);
    for (const ClaimRef& claim : sorted) batches.int8(claim.batch);
  }
  params.interval(ttl);
  const Result<pq::Rows> rows = run(writing(pg_sql::heartbeat), params);
  if (!rows) return rows.error();
  return pq::collect(*rows, [&](int row) { return rows->uuid(row, 0); });
}

Result<std::vector<HandledKey>> PostgresStore::already_handled(std::span<const HandledKey> keys) {
  if (keys.empty()) return std::vector<HandledKey>{};
  pq::Params params;
  {
    pq::Params::Array handlers = params.array(Element::text);
    for (const HandledKey& key : keys) handlers.text(std::string_view{key.handler_name});
  }
  {
    pq::Params::Array idempotency_keys = params.array(Element::text);
    for (const HandledKey& key : keys) idempotency_keys.text(std::string_view{key.idempotency_key});
  }
  const Result<pq::Rows> rows = run(reading(pg_sql::already_handled), params);
  if (!rows) return rows.error();
  return pq::collect(*rows, [&](int row) {
    return HandledKey{std::string{rows->text(row, 0)}, std::string{rows->text(row, 1)}};
  });
}

Result<std::optional<Timestamp>> PostgresStore::next_due(Generation generation) {
  const Result<pq::Rows> rows = run(reading(pg_sql::next_due), pq::Params{}.int8(generation));
  if (!rows) return rows.error();
  if (rows->empty()) return std::optional<Timestamp>{};
  return std::optional<Timestamp>{rows->timestamptz(0, 0)};
}

}  // namespace sluice::store
