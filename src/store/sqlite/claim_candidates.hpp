// What a claim would take: fresh events in insert order and retried, replayed or delayed ones in due order, merged by
// the time since when they have been due, so that neither kind starves the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/claim.hpp"
#include "store/sqlite/connection.hpp"

namespace sluice::store::sqlite {

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

/// The scopes of the handlers; none when there are none, which means "every lane".
std::optional<std::string> lane_filter(const std::vector<std::string>& handlers);

}  // namespace sluice::store::sqlite
