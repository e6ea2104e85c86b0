#include "store/sqlite/sqlite_settle.hpp"

#include <algorithm>

#include "core/try.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

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

std::optional<std::string> progress_of(const Settlement& decision) {
  if (decision.progress.empty()) return std::nullopt;
  return progress_to_json(decision.progress);
}

bool is_delivered(const SettleItem& item) { return item.settlement.next == Status::delivered; }

/// Those that are not of another boot; fences the others.
std::vector<SettleItem> of_this_boot(const Settling& settling, SettleReport& report) {
  std::vector<SettleItem> items;
  for (const SettleItem& item : settling.items) {
    if (is_of_another_boot(item.claim, settling.boot)) {
      report.fenced.push_back(item.claim.event_id);
    } else {
      items.push_back(item);
    }
  }
  return items;
}

/// As settle_delivered_all reads them.
std::string claims_of(std::span<const SettleItem> items) {
  constexpr std::size_t kBytesPerClaim = 64;
  std::string text = "{";
  text.reserve(items.size() * kBytesPerClaim);
  for (const SettleItem& item : items) {
    const ClaimRef& claim = item.claim;
    text += text.size() > 1 ? ",\"" : "\"";
    text += std::to_string(claim.locator);
    text += "\":\"";
    text += claim.event_id.to_string();
    text += ' ';
    text += std::to_string(claim.claim_seq);
    text += '"';
  }
  return text + '}';
}

/// One statement for all of them: what a statement costs by itself is most of what an event costs. False, and nothing
/// done, when it would leave some of them out.
Result<bool> deliver_all(Connection& connection, std::span<const SettleItem> items, Timestamp now) {
  if (items.size() == 1) return false;
  const auto work = [&] {
    return connection.run(sql::settle_delivered_all, {{":now", now}, {":claims", claims_of(items)}});
  };
  const auto is_all = [&](std::int64_t changed) { return changed == static_cast<std::int64_t>(items.size()); };
  SLUICE_TRY(auto changed, tentatively(connection, work, is_all));
  return is_all(changed);
}

/// How many rows changed: none when the claim is lost.
Result<std::int64_t> apply(Connection& connection, const SettleItem& item, Timestamp now) {
  const Settlement& decision = item.settlement;
  const ClaimRef& claim = item.claim;
  if (is_delivered(item)) {
    return connection.run(sql::settle_delivered,
                          {{":now", now}, {":id", claim.event_id}, {":claim_seq", claim.claim_seq}});
  }
  const auto progress = progress_of(decision);
  if (decision.next == Status::failed) {
    return connection.run(sql::settle_failed, {{":counted", decision.counts_attempt},
                                               {":recorded", decision.records_error},
                                               {":last_error", decision.last_error},
                                               {":failure_class", decision.error_class},
                                               {":fingerprint", decision.fingerprint},
                                               {":now", now},
                                               {":progress", progress},
                                               {":lane", decision.lane},
                                               {":id", claim.event_id},
                                               {":claim_seq", claim.claim_seq}});
  }
  return connection.run(sql::settle_pending, {{":retry_after", decision.not_before.value_or(now + decision.delay)},
                                              {":counted", decision.counts_attempt},
                                              {":recorded", decision.records_error},
                                              {":last_error", decision.last_error},
                                              {":failure_class", decision.error_class},
                                              {":fingerprint", decision.fingerprint},
                                              {":now", now},
                                              {":progress", progress},
                                              {":lane", decision.lane},
                                              {":id", claim.event_id},
                                              {":claim_seq", claim.claim_seq}});
}

Result<void> apply_each(Connection& connection, std::span<const SettleItem> items, Timestamp now,
                        SettleReport& report) {
  for (const SettleItem& item : items) {
    SLUICE_TRY(auto changed, apply(connection, item, now));
    if (changed == 0) {
      report.fenced.push_back(item.claim.event_id);
    } else {
      ++report.settled;
    }
  }
  return {};
}

/// The leading ones that are delivered, or the first by itself.
std::span<const SettleItem> leading(std::span<const SettleItem> items) {
  const auto other = std::find_if_not(items.begin(), items.end(), is_delivered);
  return items.first(std::max<std::size_t>(1, static_cast<std::size_t>(other - items.begin())));
}

Result<void> record_handlers(Connection& connection, const SettleItem& item, Timestamp now) {
  for (const std::string& handler : item.handled_by) {
    SLUICE_CHECK(record_handled(connection, {handler, item.idempotency_key}, item.claim.event_id, now));
  }
  return {};
}

/// Whether losing all of it would cost no more than delivering the events again.
bool is_plain(std::span<const SettleItem> items) {
  return std::all_of(items.begin(), items.end(),
                     [](const SettleItem& item) { return is_delivered(item) && item.handled_by.empty(); });
}

}  // namespace

Result<RegistryVersion> registry_version(Connection& connection) {
  SLUICE_TRY(auto version, connection.first(sql::registry_version, {}, [](Row& row) { return row.integer(); }));
  return version.value_or(0);
}

Result<bool> record_handled(Connection& connection, const HandledKey& key, const Uuid& event_id, Timestamp now) {
  auto recorded = connection.run(sql::handled_record, {{":handler_name", key.handler_name},
                                                       {":idempotency_key", key.idempotency_key},
                                                       {":now", now},
                                                       {":event_id", event_id}});
  if (!recorded) return std::move(recorded).error();
  return *recorded == 1;
}

bool gives_back(std::span<const SettleItem> items) {
  return std::any_of(items.begin(), items.end(),
                     [](const SettleItem& item) { return item.settlement.next == Status::pending; });
}

Result<void> record_attempts(Connection& connection, const AttemptList& attempts, Timestamp now) {
  if (attempts.empty()) return {};
  const std::string json = attempts.json();
  SLUICE_CHECK(connection.run(sql::attempts_record, {{":now", now}, {":attempts", json}}));
  SLUICE_CHECK(connection.run(sql::attempts_trim, {{":attempts", json}}));
  return {};
}

Result<SettleReport> settle_on(Connection& connection, const Settling& settling) {
  SettleReport report;
  SLUICE_CHECK(check(settling.items));
  if (settling.based_on) {
    SLUICE_TRY(auto current, registry_version(connection));
    if (current != *settling.based_on) return registry_changed();
  }
  for (const SettleItem& item : settling.items) {
    SLUICE_CHECK(record_handlers(connection, item, settling.now));
  }
  std::vector<SettleItem> left;
  std::span<const SettleItem> rest = settling.items;
  if (std::any_of(rest.begin(), rest.end(),
                  [&](const SettleItem& item) { return is_of_another_boot(item.claim, settling.boot); })) {
    left = of_this_boot(settling, report);
    rest = left;
  }
  while (!rest.empty()) {
    const auto next = leading(rest);
    rest = rest.subspan(next.size());
    SLUICE_TRY(auto all, deliver_all(connection, next, settling.now));
    if (all) {
      report.settled += static_cast<int>(next.size());
    } else if (auto done = apply_each(connection, next, settling.now, report); !done) {
      return std::move(done).error();
    }
  }
  AttemptList attempts;
  for (const SettleItem& item : settling.items) {
    const Uuid& id = item.claim.event_id;
    if (std::find(report.fenced.begin(), report.fenced.end(), id) != report.fenced.end()) continue;
    for (const Attempt& attempt : item.attempts) attempts.add(id, item.claim.claim_seq, attempt);
  }
  SLUICE_CHECK(record_attempts(connection, attempts, settling.now));
  return report;
}

Result<SettleReport> SqliteStore::settle(std::span<const SettleItem> items, std::optional<RegistryVersion> based_on) {
  if (items.empty()) return SettleReport{};
  const Durability durability = is_plain(items) ? Durability::lazy : Durability::synced;
  auto report = database_->write(durability, [&](Connection& connection) {
    return settle_on(connection, {items, based_on, clock_(), boot_});
  });
  if (report && gives_back(items)) bell_->notify();
  return report;
}

}  // namespace sluice::store::sqlite
