#include "store/postgres/postgres_settle.hpp"

#include <algorithm>

#include "core/try.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"
#include "store/postgres/route_pattern.hpp"

namespace sluice::store {
namespace {

using Element = pq::Params::Element;
using Items = std::vector<const SettleItem*>;

template <class Add>
void column(pq::Params& params, Element element, const Items& items, Add add) {
  pq::Params::Array array = params.array(element);
  for (const SettleItem* item : items) add(array, *item);
}

// One order for everybody, so that two settles never wait for each other in a circle.
Items in_order(std::span<const SettleItem> items) {
  Items all;
  all.reserve(items.size());
  for (const SettleItem& item : items) all.push_back(&item);
  std::sort(all.begin(), all.end(),
            [](const SettleItem* a, const SettleItem* b) { return a->claim.event_id < b->claim.event_id; });
  return all;
}

// The claim calls that these come from; a claim that was found by other means names none.
std::vector<std::int64_t> batches_of(const Items& items) {
  std::vector<std::int64_t> batches;
  for (const SettleItem* item : items) {
    const std::int64_t batch = item->claim.batch;
    if (batch != 0 && (batches.empty() || batches.back() != batch)) batches.push_back(batch);
  }
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

void add_delivered(pq::Params& params, const Items& delivered) {
  std::vector<const ClaimRef*> claims;
  claims.reserve(delivered.size());
  for (const SettleItem* item : delivered) claims.push_back(&item->claim);
  add_places(params, claims);
  column(params, Element::uuid, delivered, [](auto& a, const SettleItem& i) { a.uuid(i.claim.event_id); });
  column(params, Element::int8, delivered, [](auto& a, const SettleItem& i) { a.int8(i.claim.claim_seq); });
}

void add_undelivered(pq::Params& params, const Items& items) {
  column(params, Element::uuid, items, [](auto& a, const SettleItem& i) { a.uuid(i.claim.event_id); });
  column(params, Element::int8, items, [](auto& a, const SettleItem& i) { a.int8(i.claim.claim_seq); });
  column(params, Element::text, items, [](auto& a, const SettleItem& i) { a.text(name(i.settlement.next)); });
  column(params, Element::boolean, items, [](auto& a, const SettleItem& i) { a.boolean(i.settlement.counts_attempt); });
  column(params, Element::boolean, items, [](auto& a, const SettleItem& i) { a.boolean(i.settlement.records_error); });
  column(params, Element::interval, items, [](auto& a, const SettleItem& i) { a.interval(i.settlement.delay); });
  column(params, Element::timestamptz, items,
         [](auto& a, const SettleItem& i) { a.timestamptz(i.settlement.not_before); });
  column(params, Element::text, items,
         [](auto& a, const SettleItem& i) { a.text(std::string_view{i.settlement.last_error}); });
  column(params, Element::text, items,
         [](auto& a, const SettleItem& i) { a.text(std::string_view{i.settlement.error_class}); });
  column(params, Element::text, items,
         [](auto& a, const SettleItem& i) { a.text(std::string_view{i.settlement.fingerprint}); });
  column(params, Element::jsonb, items,
         [](auto& a, const SettleItem& i) { a.jsonb_or_null(progress_to_json(i.settlement.progress)); });
  column(params, Element::text, items,
         [](auto& a, const SettleItem& i) { a.text(std::string_view{i.settlement.lane}); });
}

void add_handled(pq::Params& params, const Items& items) {
  const auto each = [&](Element element, auto add) {
    column(params, element, items, [&](auto& array, const SettleItem& item) {
      for (const std::string& handler : item.handled_by) add(array, item, handler);
    });
  };
  each(Element::text,
       [](auto& a, const SettleItem&, const std::string& handler) { a.text(std::string_view{handler}); });
  each(Element::text,
       [](auto& a, const SettleItem& i, const std::string&) { a.text(std::string_view{i.idempotency_key}); });
  each(Element::uuid, [](auto& a, const SettleItem& i, const std::string&) { a.uuid(i.claim.event_id); });
}

bool only_acknowledges(const Items& items) {
  return std::all_of(items.begin(), items.end(), [](const SettleItem* item) {
    return item->settlement.next == Status::delivered && item->handled_by.empty() && item->attempts.empty();
  });
}

AttemptList attempts_of(const Items& items) {
  AttemptList attempts;
  for (const SettleItem* item : items) {
    for (const Attempt& attempt : item->attempts) attempts.add(item->claim.event_id, item->claim.claim_seq, attempt);
  }
  return attempts;
}

pq::Params acknowledge_params(const Items& items, const SettleTerms& terms) {
  pq::Params params;
  add_delivered(params, items);
  add_numbers(params, batches_of(items));
  add_numbers(params, terms.finished_batches);
  params.int8(terms.based_on).boolean(terms.durable);
  return params;
}

pq::Params settle_params(const Items& items, const SettleTerms& terms) {
  Items delivered;
  Items undelivered;
  for (const SettleItem* item : items)
    (item->settlement.next == Status::delivered ? delivered : undelivered).push_back(item);

  pq::Params params;
  add_delivered(params, delivered);
  add_numbers(params, batches_of(items));
  add_numbers(params, terms.finished_batches);
  add_undelivered(params, undelivered);
  add_handled(params, items);
  params.int8(terms.based_on).boolean(terms.durable);
  return params;
}

// Columns of acknowledge.sql and settle.sql; each row has one of the first two, or the others.
enum SettleColumn { kFenced, kForgotten, kNextGeneration, kNextSeq };

std::vector<std::int64_t> forgotten_batches(const pq::Rows& rows) {
  std::vector<std::int64_t> batches;
  for (int row = 0; row < rows.size(); ++row) {
    if (!rows.is_null(row, kForgotten)) batches.push_back(rows.int8(row, kForgotten));
  }
  return batches;
}

using Element = pq::Params::Element;

// One statement of three, the cheapest that does all of it.
Result<pq::Rows> run_settle(const RunQuery& run, const Items& items, const SettleTerms& terms) {
  if (only_acknowledges(items)) return run(pg_sql::acknowledge, acknowledge_params(items, terms));
  const AttemptList attempts = attempts_of(items);
  pq::Params params = settle_params(items, terms);
  if (attempts.empty()) return run(pg_sql::settle, params);
  return run(pg_sql::settle_recorded, params.jsonb(attempts.json()));
}

}  // namespace

void add_places(pq::Params& params, const std::vector<const ClaimRef*>& claims) {
  std::optional<Timestamp> earliest;
  std::optional<Timestamp> latest;
  {
    pq::Params::Array tids = params.array(Element::tid);
    for (const ClaimRef* claim : claims) {
      tids.tid(claim->locator);
      if (claim->locator == 0) continue;
      earliest = std::min(earliest.value_or(claim->occurred_at), claim->occurred_at);
      latest = std::max(latest.value_or(claim->occurred_at), claim->occurred_at);
    }
  }
  params.timestamptz(earliest).timestamptz(latest);
}

Result<Settled> settle_by(const RunQuery& run, std::span<const SettleItem> items, const SettleTerms& terms) {
  Settled settled;
  SettleReport& report = settled.report;
  Items left = in_order(items);
  while (!left.empty()) {
    SLUICE_TRY(const pq::Rows rows, run_settle(run, left, terms));
    const std::vector<std::int64_t> forgotten = forgotten_batches(rows);
    if (forgotten.empty()) {
      for (int row = 0; row < rows.size(); ++row) {
        if (!rows.is_null(row, kFenced)) {
          report.fenced.push_back(rows.uuid(row, kFenced));
        } else {
          settled.next.add(rows.int8(row, kNextGeneration), rows.int8(row, kNextSeq));
        }
      }
      break;
    }
    // Nothing was changed: again, without the events of those.
    const auto lost = std::stable_partition(left.begin(), left.end(), [&](const SettleItem* item) {
      return std::find(forgotten.begin(), forgotten.end(), item->claim.batch) == forgotten.end();
    });
    std::transform(lost, left.end(), std::back_inserter(report.fenced),
                   [](const SettleItem* item) { return item->claim.event_id; });
    left.erase(lost, left.end());
  }
  report.settled = static_cast<int>(items.size() - report.fenced.size());
  return settled;
}

BatchesSettling PostgresStore::begin_settle(std::span<const SettleItem> items) {
  const std::scoped_lock lock{mutex_};
  return open_claims_.begin(items);
}

void PostgresStore::settle_failed(const BatchesSettling& settling) {
  const std::scoped_lock lock{mutex_};
  open_claims_.failed(settling);
}

std::vector<std::int64_t> PostgresStore::settle_succeeded(const BatchesSettling& settling) {
  const std::scoped_lock lock{mutex_};
  return open_claims_.succeeded(settling);
}

std::size_t PostgresStore::open_batches() {
  const std::scoped_lock lock{mutex_};
  next_forget_ = {};
  forget_expired_claims();
  return open_claims_.size();
}

Result<SettleReport> PostgresStore::settle(std::span<const SettleItem> items, std::optional<RegistryVersion> based_on) {
  if (items.empty()) return SettleReport{};
  const auto settling = [&](const pg_sql::Query& query, const pq::Params& params) {
    return run(writing(query), params);
  };
  const BatchesSettling batches = begin_settle(items);
  Result<Settled> settled = settle_by(settling, items, {batches.finished, based_on, false});
  if (!settled) {
    settle_failed(batches);
    return std::move(settled).error();
  }
  remember(settled->next);
  std::vector<std::int64_t> closing = settle_succeeded(batches);
  closing.insert(closing.end(), batches.elsewhere.begin(), batches.elsewhere.end());
  if (!closing.empty()) {
    pq::Params params;
    add_numbers(params, closing);
    // What was settled is settled: if this fails, the reaper forgets them when their time has run out.
    static_cast<void>(run(writing(pg_sql::claims_close), params).has_value());
  }
  return std::move(settled->report);
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
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::heartbeat), params));
  return pq::collect(rows, [&](int row) { return rows.uuid(row, 0); });
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
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::already_handled), params));
  return pq::collect(rows, [&](int row) {
    return HandledKey{std::string{rows.text(row, 0)}, std::string{rows.text(row, 1)}};
  });
}

Result<std::optional<Timestamp>> PostgresStore::next_due(Generation generation,
                                                         const std::vector<std::string>& handlers) {
  SLUICE_TRY(const pq::Rows rows,
             run(reading(pg_sql::next_due), pq::Params{}.int8(generation).texts_or_null(lanes(handlers))));
  std::optional<Timestamp> due = rows.optional_timestamptz(0, 0);
  if (const auto owed = owed_look(generation, handlers)) {
    const Timestamp look = rows.timestamptz(0, 1) + *owed;
    due = due ? std::min(*due, look) : look;
  }
  return due;
}

Result<std::string> PostgresStore::token_secret() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::token_secret), pq::Params{}));
  return std::string{rows.text(0, 0)};
}

}  // namespace sluice::store
