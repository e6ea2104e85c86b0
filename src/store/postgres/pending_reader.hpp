// Leads the walks of the generations through the table, over one connection: what is pending and never waited.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <sluice/result.hpp>
#include "core/generation.hpp"
#include "store/postgres/event_numbers.hpp"
#include "store/postgres/pending_walk.hpp"
#include "store/postgres/postgres_statement.hpp"

namespace sluice::store {

using PendingWalks = std::map<Generation, PendingWalk>;

/// One round: read, use the walks, end.
class PendingReader {
 public:
  PendingReader(pq::Connection& connection, PendingWalks& walks) : connection_(connection), walks_(walks) {}

  /// A generation that has events.
  struct Part {
    Generation generation = kFirstGeneration;
    std::int64_t newest = 0;
    std::int64_t oldest = 0;
  };

  /// To the end: while much was not looked at yet, one statement reads the table; afterwards only what is new is looked
  /// at. That has to run in one snapshot.
  Result<std::vector<Part>> read(PendingWalk::Reach reach);
  /// What the walks have found; none: that is not all.
  [[nodiscard]] std::optional<EventNumbers> found() const;

  /// Moves the walks on; last, so that whoever could have inserted before a probe is below the horizon. The time.
  Result<Timestamp> end();

 private:
  Result<std::vector<Part>> begin(PendingWalk::Reach reach);
  Result<pq::Rows> run(const pg_sql::Query& query, const pq::Params& params = {});
  [[nodiscard]] bool is_much(const std::vector<Part>& parts) const;
  Result<void> read_all(const std::vector<Part>& parts);
  Result<PendingLook> look(Generation generation, std::int64_t above, std::optional<std::int64_t> upto);
  Result<void> reopen(Generation generation, PendingWalk& walk);
  Result<void> walk_on(Generation generation, PendingWalk& walk);

  pq::Connection& connection_;
  PendingWalks& walks_;
  std::int64_t oldest_running_ = 0;
};

}  // namespace sluice::store
