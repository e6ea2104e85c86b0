#include "runtime/retention.hpp"

#include <utility>

#include "core/try.hpp"

namespace sluice::runtime {

namespace {

void add(store::RetentionReport& total, const store::RetentionReport& batch) {
  total.outbox_tombstoned += batch.outbox_tombstoned;
  total.outbox_deleted += batch.outbox_deleted;
  total.failed_swept += batch.failed_swept;
  total.handled_deleted += batch.handled_deleted;
  total.more = batch.more;
}

}  // namespace

Result<void> RetentionSweep::keep_partitions(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto done = store_.keep_partitions(options_.policies, false, {"sluice", "daemon", "retention"});
    if (!done && done.error().code == ErrorCode::timeout) {
      logger_.info("partitions wait for a lock", {{"error", done.error().message}});
      return {};
    }
    if (!done) return done.error();
    if (!*done) return {};
    logger_.info("partition " + (*done)->action, {{"partition", (*done)->name}, {"events", (*done)->events}});
  }
  return {};
}

RetentionSweep::RetentionSweep(store::Maintaining& store, telemetry::Logger logger, RetentionOptions options)
    : store_(store), logger_(std::move(logger)), options_(options) {}

Result<store::RetentionReport> RetentionSweep::step(const std::stop_token& stop) {
  SLUICE_CHECK(options_.policies.validate());
  store::RetentionReport total;
  for (int batch = 0; batch < options_.max_batches && !stop.stop_requested(); ++batch) {
    const auto swept = store_.sweep_retention(options_.policies, options_.batch_limit, false);
    if (!swept) return swept.error();
    add(total, *swept);
    if (!swept->more) break;
  }
  if (total.outbox_tombstoned + total.outbox_deleted + total.handled_deleted > 0) {
    logger_.info("retention swept", {{"outbox_tombstoned", total.outbox_tombstoned},
                                     {"outbox_deleted", total.outbox_deleted},
                                     {"failed_swept", total.failed_swept},
                                     {"handled_deleted", total.handled_deleted},
                                     {"more", total.more}});
  }
  if (total.more || stop.stop_requested()) return total;
  SLUICE_CHECK(keep_partitions(stop));
  const auto pruned = store_.prune(options_.policies);
  if (!pruned) return pruned.error();
  if (pruned->cursors + pruned->failure_groups > 0) {
    logger_.info("bookkeeping pruned", {{"cursors", pruned->cursors}, {"failure_groups", pruned->failure_groups}});
  }
  return total;
}

}  // namespace sluice::runtime
