// A store in monthly partitions, as `sluice ladder partition` leaves it after a while: the table that was is the past,
// and the present month is one of several.
#pragma once

#include <chrono>

#include "store/administer.hpp"

namespace sluice::test {

/// The beginning of the month that lies so many months from now.
inline Timestamp month_from_now(int months) {
  const std::chrono::year_month_day date{std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
  return Timestamp{std::chrono::sys_days{(date.year() / date.month() + std::chrono::months{months}) / 1}};
}

/// Three months have partitions, or as many as are asked for; the first of them is so far from now.
inline Result<void> make_partitions(store::Administering& store, int first = -1, int months = 3) {
  using Step = store::PartitionStep;
  for (const Step step : {Step::constrain, Step::validate, Step::prepare, Step::swap}) {
    const store::PartitionRequest request{step, month_from_now(first), months};
    if (auto taken = store.take_partition_step(request, {"tests", "tests", "a partitioned layout"}); !taken)
      return taken;
  }
  return {};
}

}  // namespace sluice::test
