// The parameters of settle.sql and what comes back: the same for a settle of its own and for one within a
// handler's transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "store/claiming.hpp"
#include "store/postgres/pq_values.hpp"

namespace sluice::store {

struct SettleTerms {
  std::vector<std::int64_t> finished_batches;
  std::optional<RegistryVersion> based_on;
  bool durable = false;  ///< the commit waits for the disk, whatever is settled
};

pq::Params settle_params(std::span<const SettleItem> items, const SettleTerms& terms);
SettleReport settle_report(std::span<const SettleItem> items, const pq::Rows& fenced);

}  // namespace sluice::store
