#include "ops/retention_sweep.hpp"

#include "core/json_object.hpp"

namespace sluice::ops {

Result<store::RetentionReport> sweep_retention(store::Maintaining& store, const SweepOrder& order,
                                               const SweepProgress& go_on) {
  store::RetentionReport total;
  do {
    const auto swept = store.sweep_retention(order.policies, order.batch, false, order.actor);
    if (!swept) return swept.error();
    total.outbox_tombstoned += swept->outbox_tombstoned;
    total.outbox_deleted += swept->outbox_deleted;
    total.failed_swept += swept->failed_swept;
    total.handled_deleted += swept->handled_deleted;
    total.more = swept->more;
  } while (total.more && go_on(total));
  return total;
}

Result<store::RetentionReport> preview_sweep(store::Maintaining& store, const RetentionPolicies& policies, int limit) {
  return store.sweep_retention(policies, limit, true);
}

std::string to_json(const store::RetentionReport& report, bool dry_run) {
  return JsonObject{}
      .boolean("dry_run", dry_run)
      .number("outbox_tombstoned", report.outbox_tombstoned)
      .number("outbox_deleted", report.outbox_deleted)
      .number("failed_swept", report.failed_swept)
      .number("handled_deleted", report.handled_deleted)
      .boolean("more", report.more)
      .str();
}

}  // namespace sluice::ops
