// The statement that settles, its parameters and what comes back: the same for a settle of its own and for one within
// a handler's transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pg_sql.hpp"
#include "store/claiming.hpp"
#include "store/postgres/pq_values.hpp"

namespace sluice::store {

struct SettleTerms {
  std::vector<std::int64_t> finished_batches;
  std::optional<RegistryVersion> based_on;
  bool durable = false;  ///< the commit waits for the disk, whatever is settled
};

struct SettleCommand {
  const pg_sql::Query& query;
  pq::Params params;
};
/// acknowledge.sql when there is nothing else to settle, which is what most settles are; else settle.sql.
SettleCommand settle_command(std::span<const SettleItem> items, const SettleTerms& terms);
SettleReport settle_report(std::span<const SettleItem> items, const pq::Rows& fenced);

}  // namespace sluice::store
