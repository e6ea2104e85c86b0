#include "runtime/reaper.hpp"

#include <set>
#include <utility>

namespace sluice::runtime {
namespace {

FailureNotice notice_of(const store::ExpiredClaim& expired, const Settlement& settlement) {
  FailureNotice notice;
  notice.event_id = expired.claim.event_id;
  notice.error_class = settlement.error_class;
  notice.fingerprint = settlement.fingerprint;
  notice.last_error = settlement.last_error;
  notice.attempts = expired.attempts + 1;
  return notice;
}

}  // namespace

Reaper::Reaper(store::Maintaining& expired, store::Claiming& claims, telemetry::Logger logger, ReaperOptions options)
    : expired_(expired), claims_(claims), logger_(std::move(logger)), options_(std::move(options)) {}

Result<StepReport> Reaper::step(int limit) {
  const auto expired = expired_.expired_claims(limit);
  if (!expired) return expired.error();
  return take_back(*expired);
}

Result<StepReport> Reaper::take_back(const std::vector<store::ExpiredClaim>& expired) {
  if (expired.empty()) return StepReport{};
  std::vector<store::SettleItem> items;
  items.reserve(expired.size());
  for (const store::ExpiredClaim& claim : expired) {
    items.push_back(
        {claim.claim, settle(claim.attempts, Outcome::expired(), options_.retry, options_.uniform01()), {}, {}});
  }
  const auto settled = claims_.settle(items);
  if (!settled) return settled.error();

  const std::set<Uuid> fenced(settled->fenced.begin(), settled->fenced.end());
  StepReport report;
  report.claimed = static_cast<std::int64_t>(expired.size());
  report.fenced = static_cast<std::int64_t>(fenced.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (fenced.contains(items[i].claim.event_id)) continue;
    const bool failed = items[i].settlement.next == Status::failed;
    ++(failed ? report.failed : report.retried);
    logger_.warn("claim expired", {{"event_id", items[i].claim.event_id.to_string()},
                                   {"claimed_by", expired[i].worker},
                                   {"attempts", expired[i].attempts + 1},
                                   {"status_result", failed ? "failed" : "retry"}});
    if (failed && options_.on_failed) options_.on_failed(notice_of(expired[i], items[i].settlement));
  }
  return report;
}

}  // namespace sluice::runtime
