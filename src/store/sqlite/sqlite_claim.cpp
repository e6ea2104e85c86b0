#include <set>

#include "core/json.hpp"
#include "store/sqlite/event_rows.hpp"
#include "store/sqlite/json_list.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

// What has been due for longer than this was looked at by a claim.
constexpr Duration kMoment = std::chrono::seconds{1};

void append_member(std::string& text, std::string_view member, std::string_view value) {
  if (text.back() != '{') text += ',';
  json::append_quoted(text, member);
  text += ':';
  json::append_quoted(text, value);
}

/// As claim_candidates reads them; none when there are none, which means "every event".
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

/// The scopes of the handlers; none when there are none, which means "every lane".
std::optional<std::string> lane_filter(const std::vector<std::string>& handlers) {
  std::set<std::string> scopes;
  for (const std::string& handler : handlers) scopes.emplace(scope_of(handler));
  return json_filter({scopes.begin(), scopes.end()});
}

}  // namespace

Result<std::vector<ClaimedEvent>> SqliteStore::claim(const ClaimRequest& request) {
  std::vector<ClaimedEvent> claimed;
  if (request.limit <= 0) return claimed;
  const auto interests = interest_filter(request.interests);
  const auto lanes = lane_filter(request.handlers);
  const auto handlers = json_filter(request.handlers);
  const auto look = [&](Connection& connection, Timestamp now, int limit) {
    return connection.each(sql::claim_candidates,
                           {{":interests", interests},
                            {":generation", request.generation},
                            {":limit", limit},
                            {":now", now},
                            {":lanes", lanes},
                            {":handlers", handlers}},
                           [&](Row& row) { claimed.push_back(read_candidate(row, request.generation, now)); });
  };
  // Where there was nothing the last time there may be nothing again, however much waits for others: publishers are
  // not to stand still meanwhile, so the first look is a reader's.
  if (claimed_nothing_) {
    auto found = database_->read([&](Connection& connection) { return look(connection, clock_(), 1); });
    if (!found) return std::move(found).error();
    if (claimed.empty()) return claimed;
    claimed.clear();
  }
  return database_->write([&](Connection& connection) -> Result<std::vector<ClaimedEvent>> {
    const Timestamp now = clock_();
    auto found = look(connection, now, request.limit);
    if (!found) return std::move(found).error();
    claimed_nothing_ = claimed.empty();
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

Result<std::optional<Timestamp>> SqliteStore::next_due(Generation generation,
                                                       const std::vector<std::string>& handlers) {
  return database_->read([&](Connection& connection) -> Result<std::optional<Timestamp>> {
    return connection.first(
        sql::next_due, {{":generation", generation}, {":since", clock_() - kMoment}, {":lanes", lane_filter(handlers)}},
        [](Row& row) { return row.timestamp(); });
  });
}

}  // namespace sluice::store::sqlite
