#include "core/json.hpp"
#include "store/sqlite/event_rows.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

/// A list as JSON text for json_each; none when the list is empty, which means "no filter".
std::optional<std::string> json_list(const std::vector<std::string>& names) {
  if (names.empty()) return std::nullopt;
  std::string text = "[";
  for (const std::string& name : names) {
    if (text.size() > 1) text += ',';
    json::append_quoted(text, name);
  }
  return text + ']';
}

Result<std::int64_t> apply(Connection& connection, const SettleItem& item, Timestamp now) {
  const Settlement& decision = item.settlement;
  const ClaimRef& claim = item.claim;
  if (decision.next == Status::delivered) {
    return connection.run(sql::settle_delivered,
                          {{":now", now}, {":id", claim.event_id}, {":claim_seq", claim.claim_seq}});
  }
  if (decision.next == Status::failed) {
    return connection.run(sql::settle_failed, {{":counted", decision.counts_attempt},
                                               {":last_error", decision.last_error},
                                               {":failure_class", decision.error_class},
                                               {":fingerprint", decision.fingerprint},
                                               {":now", now},
                                               {":id", claim.event_id},
                                               {":claim_seq", claim.claim_seq}});
  }
  return connection.run(sql::settle_pending, {{":retry_after", decision.not_before.value_or(now + decision.delay)},
                                              {":counted", decision.counts_attempt},
                                              {":last_error", decision.last_error},
                                              {":failure_class", decision.error_class},
                                              {":fingerprint", decision.fingerprint},
                                              {":now", now},
                                              {":id", claim.event_id},
                                              {":claim_seq", claim.claim_seq}});
}

Result<void> check(std::span<const SettleItem> items) {
  for (const SettleItem& item : items) {
    if (item.settlement.next == Status::in_flight) {
      return invalid("settlement", "a claim cannot be settled as in_flight: use heartbeat to keep it");
    }
    if (!item.handled_by.empty() && item.idempotency_key.empty()) {
      return invalid("idempotency_key", "the idempotency key is needed to record who handled the event");
    }
  }
  return {};
}

}  // namespace

Result<std::vector<ClaimedEvent>> SqliteStore::claim(const ClaimRequest& request) {
  std::vector<ClaimedEvent> claimed;
  if (request.limit <= 0) return claimed;
  const auto contexts = json_list(request.contexts);
  const auto channels = json_list(request.channels);
  return database_->write([&](Connection& connection) -> Result<std::vector<ClaimedEvent>> {
    const Timestamp now = clock_();
    auto found = connection.each(sql::claim_candidates,
                                 {{":generation", request.generation},
                                  {":contexts", contexts},
                                  {":channels", channels},
                                  {":limit", request.limit},
                                  {":now", now}},
                                 [&](Row& row) { claimed.push_back(read_candidate(row, request.generation)); });
    if (!found) return std::move(found).error();
    for (const ClaimedEvent& event : claimed) {
      auto taken = connection.run(sql::claim, {{":now", now},
                                               {":worker", request.worker},
                                               {":expires_at", now + request.ttl},
                                               {":seq", static_cast<std::int64_t>(event.claim.locator)}});
      if (!taken) return std::move(taken).error();
    }
    return std::move(claimed);
  });
}

Result<SettleReport> SqliteStore::settle(std::span<const SettleItem> items) {
  SettleReport report;
  if (items.empty()) return report;
  if (auto usable = check(items); !usable) return std::move(usable).error();
  return database_->write([&](Connection& connection) -> Result<SettleReport> {
    const Timestamp now = clock_();
    for (const SettleItem& item : items) {
      for (const std::string& handler : item.handled_by) {
        auto recorded = connection.run(sql::record_handled, {{":handler_name", handler},
                                                             {":idempotency_key", item.idempotency_key},
                                                             {":now", now},
                                                             {":event_id", item.claim.event_id}});
        if (!recorded) return std::move(recorded).error();
      }
      auto changed = apply(connection, item, now);
      if (!changed) return std::move(changed).error();
      if (*changed == 0) {
        report.fenced.push_back(item.claim.event_id);
      } else {
        ++report.settled;
      }
    }
    return std::move(report);
  });
}

Result<std::vector<Uuid>> SqliteStore::heartbeat(std::span<const ClaimRef> claims, Duration ttl) {
  std::vector<Uuid> lost;
  if (claims.empty()) return lost;
  return database_->write([&](Connection& connection) -> Result<std::vector<Uuid>> {
    const Timestamp expires_at = clock_() + ttl;
    for (const ClaimRef& claim : claims) {
      auto renewed = connection.run(
          sql::heartbeat, {{":expires_at", expires_at}, {":id", claim.event_id}, {":claim_seq", claim.claim_seq}});
      if (!renewed) return std::move(renewed).error();
      if (*renewed == 0) lost.push_back(claim.event_id);
    }
    return std::move(lost);
  });
}

Result<std::vector<HandledKey>> SqliteStore::already_handled(std::span<const HandledKey> keys) {
  std::vector<HandledKey> found;
  if (keys.empty()) return found;
  return database_->read([&](Connection& connection) -> Result<std::vector<HandledKey>> {
    for (const HandledKey& key : keys) {
      auto asked = connection.each(sql::is_handled,
                                   {{":idempotency_key", key.idempotency_key}, {":handler_name", key.handler_name}},
                                   [&](Row&) { found.push_back(key); });
      if (!asked) return std::move(asked).error();
    }
    return std::move(found);
  });
}

Result<std::optional<Timestamp>> SqliteStore::next_due(Generation generation) {
  return database_->read([&](Connection& connection) -> Result<std::optional<Timestamp>> {
    auto due = connection.first(sql::next_due, {{":generation", generation}},
                                [](Row& row) { return row.optional_timestamp(); });
    if (!due) return std::move(due).error();
    return due->value_or(std::nullopt);
  });
}

}  // namespace sluice::store::sqlite
