// The statement that settles, its parameters and what comes back: the same for a settle of its own and for one within
// a handler's transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "pg_sql.hpp"
#include "store/claim.hpp"
#include "store/postgres/event_numbers.hpp"
#include "store/postgres/pq_values.hpp"

namespace sluice::store {

/// Where the claims left their rows: the places, then when the earliest and the latest of them occurred.
void add_places(pq::Params& params, const std::vector<const ClaimRef*>& claims);

struct SettleTerms {
  std::vector<std::int64_t> finished_batches;
  std::optional<RegistryVersion> based_on;
  bool durable = false;  ///< the commit waits for the disk, whatever is settled
};

/// Settles by acknowledge.sql when there is nothing else to settle, which is what most settles are, else by settle.sql,
/// or by settle_recorded.sql when there are attempts to write down. Claims that the server has forgotten, because it
/// crashed before they were on disk, are fenced like any that were lost.
using RunQuery = std::function<Result<pq::Rows>(const pg_sql::Query&, const pq::Params&)>;

struct Settled {
  SettleReport report;
  EventNumbers next;  ///< waited for a key that is free once the settle is committed
};
Result<Settled> settle_by(const RunQuery& run, std::span<const SettleItem> items, const SettleTerms& terms);

}  // namespace sluice::store
