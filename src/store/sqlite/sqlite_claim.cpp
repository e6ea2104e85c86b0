#include "core/try.hpp"
#include "store/sqlite/claim_candidates.hpp"
#include "store/sqlite/sqlite_settle.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

// What has been due for longer than this was looked at by a claim.
constexpr Duration kMoment = std::chrono::seconds{1};

/// A JSON array of their `seq`.
std::string places_of(const std::vector<ClaimedEvent>& events) {
  std::string text = "[";
  for (const ClaimedEvent& event : events) {
    if (text.size() > 1) text += ',';
    text += std::to_string(event.claim.locator);
  }
  return text + ']';
}

}  // namespace

Result<std::vector<ClaimedEvent>> SqliteStore::claim(const ClaimRequest& request) {
  if (request.limit <= 0) return std::vector<ClaimedEvent>{};
  const ClaimCandidates candidates{request};
  // Where there was nothing the last time there may be nothing again, however much waits for others: publishers are
  // not to stand still meanwhile, so the first look is a reader's.
  if (claimed_nothing_) {
    auto found = database_->read([&](Connection& connection) { return candidates.find(connection, clock_(), 1); });
    if (!found || found->empty()) return found;
  }
  return database_->write(Durability::lazy, [&](Connection& connection) {
    const Timestamp now = clock_();
    auto found = candidates.find(connection, now, request.limit);
    if (!found) return found;
    claimed_nothing_ = found->empty();
    if (found->empty()) return found;
    auto taken = connection.run(
        sql::claim,
        {{":now", now}, {":worker", request.worker}, {":expires_at", now + request.ttl}, {":seqs", places_of(*found)}});
    if (!taken) return Result<std::vector<ClaimedEvent>>{std::move(taken).error()};
    for (ClaimedEvent& event : *found) event.claim.batch = boot_;
    return found;
  });
}

Result<std::vector<Uuid>> SqliteStore::heartbeat(std::span<const ClaimRef> claims, Duration ttl) {
  std::vector<Uuid> lost;
  if (claims.empty()) return lost;
  return database_->write(Durability::lazy, [&](Connection& connection) -> Result<std::vector<Uuid>> {
    const Timestamp expires_at = clock_() + ttl;
    for (const ClaimRef& claim : claims) {
      if (is_of_another_boot(claim, boot_)) {
        lost.push_back(claim.event_id);
        continue;
      }
      SLUICE_TRY(auto renewed, connection.run(sql::heartbeat, {{":expires_at", expires_at},
                                                               {":id", claim.event_id},
                                                               {":claim_seq", claim.claim_seq}}));
      if (renewed == 0) lost.push_back(claim.event_id);
    }
    return std::move(lost);
  });
}

Result<std::vector<HandledKey>> SqliteStore::already_handled(std::span<const HandledKey> keys) {
  std::vector<HandledKey> found;
  if (keys.empty()) return found;
  return database_->read([&](Connection& connection) -> Result<std::vector<HandledKey>> {
    for (const HandledKey& key : keys) {
      SLUICE_CHECK(connection.each(sql::is_handled,
                                   {{":idempotency_key", key.idempotency_key}, {":handler_name", key.handler_name}},
                                   [&](Row&) { found.push_back(key); }));
    }
    return std::move(found);
  });
}

Result<std::optional<Timestamp>> SqliteStore::next_due(Generation generation,
                                                       const std::vector<std::string>& handlers) {
  return database_->read([&](Connection& connection) -> Result<std::optional<Timestamp>> {
    return connection.first(
        sql::next_due, {{":generation", generation}, {":since", clock_() - kMoment}, {":lanes", lane_filter(handlers)}},
        [](Row& row) { return row.timestamp(); });
  });
}

Result<std::string> SqliteStore::token_secret() {
  return database_->read([&](Connection& connection) -> Result<std::string> {
    SLUICE_TRY(auto secret, connection.first(sql::token_secret, {}, [](Row& row) { return row.text(); }));
    if (!secret)
      return Error{ErrorCode::schema, Retry::never, "the row pull_tokens of the table secrets is missing", {}, {}};
    return *std::move(secret);
  });
}

}  // namespace sluice::store::sqlite
