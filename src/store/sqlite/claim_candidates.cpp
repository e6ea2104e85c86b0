#include "store/sqlite/claim_candidates.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "core/json.hpp"
#include "core/try.hpp"
#include "store/sqlite/event_rows.hpp"
#include "store/sqlite/json_list.hpp"

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

}  // namespace

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

}  // namespace sluice::store::sqlite
