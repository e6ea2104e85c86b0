// What a worker does with the events that it holds: settle, renew, ask what was handled and what comes next.
#include <algorithm>

#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_settle.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"
#include "store/postgres/route_pattern.hpp"

namespace sluice::store {
namespace {

using Element = pq::Params::Element;

}  // namespace

PostgresStore::SettledBatches PostgresStore::settled_batches(std::span<const SettleItem> items) {
  SettledBatches batches;
  const std::scoped_lock lock{mutex_};
  for (const SettleItem& item : items) {
    const std::int64_t batch = item.claim.batch;
    const auto open = open_claims_.find(batch);
    if (open == open_claims_.end()) {
      const bool told = batch == 0 || (!batches.elsewhere.empty() && batches.elsewhere.back() == batch) ||
                        (!batches.finished.empty() && batches.finished.back() == batch);
      if (!told) batches.elsewhere.push_back(batch);
      continue;
    }
    open->second.settled(item.claim.event_id);
    if (!open->second.empty()) continue;
    batches.finished.push_back(batch);
    open_claims_.erase(open);
  }
  return batches;
}

Result<SettleReport> PostgresStore::settle(std::span<const SettleItem> items, std::optional<RegistryVersion> based_on) {
  if (items.empty()) return SettleReport{};
  const auto settling = [&](const pg_sql::Query& query, const pq::Params& params) {
    return run(writing(query), params);
  };
  SettledBatches batches = settled_batches(items);
  Result<Settled> settled = settle_by(settling, items, {std::move(batches.finished), based_on, false});
  if (!settled) return std::move(settled).error();
  remember(settled->next);
  if (!batches.elsewhere.empty()) {
    pq::Params params;
    add_numbers(params, batches.elsewhere);
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

Result<std::optional<Timestamp>> PostgresStore::next_due(Generation generation,
                                                         const std::vector<std::string>& handlers) {
  const Result<pq::Rows> rows =
      run(reading(pg_sql::next_due), pq::Params{}.int8(generation).texts_or_null(lanes(handlers)));
  if (!rows) return rows.error();
  std::optional<Timestamp> due = rows->optional_timestamptz(0, 0);
  if (const auto owed = owed_look(generation, handlers)) {
    const Timestamp look = rows->timestamptz(0, 1) + *owed;
    due = due ? std::min(*due, look) : look;
  }
  return due;
}

Result<std::string> PostgresStore::token_secret() {
  const Result<pq::Rows> rows = run(reading(pg_sql::token_secret), pq::Params{});
  if (!rows) return rows.error();
  return std::string{rows->text(0, 0)};
}

}  // namespace sluice::store
