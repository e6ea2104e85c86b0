#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/json.hpp"
#include "core/try.hpp"
#include "store/claim.hpp"
#include "store/sqlite/connection.hpp"
#include "store/sqlite/query_params.hpp"
#include "store/sqlite/sqlite_records.hpp"
#include "store/sqlite/sqlite_settle.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

// A backlog fills the batch; a limit may be anything.
constexpr int kRoomAtFirst = 1000;

void append_member(std::string& text, std::string_view member, std::string_view value) {
  if (text.back() != '{') text += ',';
  json::append_quoted(text, member);
  text += ':';
  json::append_quoted(text, value);
}

/// As claim_fresh and claim_due read them; none when there are none, which means "every event".
std::optional<std::string> interest_filter(const std::vector<Interest>& interests) {
  if (interests.empty()) return std::nullopt;
  std::string text = "[";
  for (const Interest& interest : interests) {
    text += text.size() > 1 ? ",{" : "{";
    std::string_view type = interest.event_type;
    const bool prefix = type.ends_with('*');
    if (prefix) type.remove_suffix(1);
    append_member(text, prefix ? "prefix" : "event_type", type);
    if (interest.context) append_member(text, "context", *interest.context);
    if (interest.channel) append_member(text, "channel", *interest.channel);
    text += '}';
  }
  return text + ']';
}

// What a claim would take: fresh events in insert order and retried, replayed or delayed ones in due order, merged by
// the time since when they have been due, so that neither kind starves the other.
class ClaimCandidates {
 public:
  explicit ClaimCandidates(const ClaimRequest& request);

  /// Up to `limit`, as they will be when they have been claimed at `now`. In the transaction that is open.
  Result<std::vector<ClaimedEvent>> find(Connection& connection, Timestamp now, int limit) const;

 private:
  struct Candidate {
    Timestamp due;
    ClaimedEvent event;
  };
  [[nodiscard]] Candidate read(Row& row, Timestamp now) const;
  Result<std::vector<Candidate>> find_fresh(Connection& connection, Timestamp now, int limit) const;
  Result<std::vector<Candidate>> find_due(Connection& connection, Timestamp now, int limit) const;

  Generation generation_;
  std::optional<std::string> interests_;
  std::optional<std::string> lanes_;
  std::optional<std::string> handlers_;
};

std::optional<std::string> lane_filter(const std::vector<std::string>& handlers) {
  std::set<std::string> scopes;
  for (const std::string& handler : handlers) scopes.emplace(scope_of(handler));
  return json_filter({scopes.begin(), scopes.end()});
}

ClaimCandidates::ClaimCandidates(const ClaimRequest& request)
    : generation_(request.generation),
      interests_(interest_filter(request.interests)),
      lanes_(lane_filter(request.handlers)),
      handlers_(json_filter(request.handlers)) {}

ClaimCandidates::Candidate ClaimCandidates::read(Row& row, Timestamp now) const {
  const Timestamp due = row.timestamp();
  return {due, read_candidate(row, generation_, now)};
}

Result<std::vector<ClaimCandidates::Candidate>> ClaimCandidates::find_fresh(Connection& connection, Timestamp now,
                                                                            int limit) const {
  std::vector<Candidate> found;
  found.reserve(static_cast<std::size_t>(std::min(limit, kRoomAtFirst)));
  SLUICE_CHECK(connection.each(sql::claim_fresh,
                               {{":interests", interests_}, {":generation", generation_}, {":limit", limit}},
                               [&](Row& row) { found.push_back(read(row, now)); }));
  return found;
}

Result<std::vector<ClaimCandidates::Candidate>> ClaimCandidates::find_due(Connection& connection, Timestamp now,
                                                                          int limit) const {
  std::vector<Candidate> found;
  SLUICE_CHECK(connection.each(sql::claim_due,
                               {{":interests", interests_},
                                {":generation", generation_},
                                {":now", now},
                                {":lanes", lanes_},
                                {":handlers", handlers_},
                                {":limit", limit}},
                               [&](Row& row) { found.push_back(read(row, now)); }));
  return found;
}

Result<std::vector<ClaimedEvent>> ClaimCandidates::find(Connection& connection, Timestamp now, int limit) const {
  SLUICE_TRY(auto found, find_fresh(connection, now, limit));
  SLUICE_TRY(auto due, find_due(connection, now, limit));
  const auto earlier = [](const Candidate& one, const Candidate& other) {
    return std::tie(one.due, one.event.claim.locator) < std::tie(other.due, other.event.claim.locator);
  };
  found.insert(found.end(), std::move_iterator{due.begin()}, std::move_iterator{due.end()});
  // Insert order need not be the order of the clock, where that was set back.
  if (!std::is_sorted(found.begin(), found.end(), earlier)) std::sort(found.begin(), found.end(), earlier);
  std::vector<ClaimedEvent> events;
  const std::size_t taken = std::min(found.size(), static_cast<std::size_t>(limit));
  events.reserve(taken);
  for (std::size_t i = 0; i < taken; ++i) events.push_back(std::move((found)[i].event));
  return events;
}

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
  // not to stand still meanwhile, so the first scan is a reader's.
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
      SLUICE_CHECK(connection.each(sql::already_handled,
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
