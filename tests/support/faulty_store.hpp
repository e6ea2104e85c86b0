// A store that fails one call, chosen by number, and forwards all others: with n = 1, 2, 3… a test
// walks the fault through every step of what it drives. Or it fails one verb with a given error.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "store/store.hpp"

namespace sluice::test {

enum class Fault {
  before,  ///< nothing was done, and the error says so
  after,   ///< it was done, and the answer was lost: in doubt
};

class FaultyStore : public store::Store {
 public:
  explicit FaultyStore(store::Store& inner) : inner_(inner) {}
  explicit FaultyStore(std::unique_ptr<store::Store> inner) : owned_(std::move(inner)), inner_(*owned_) {}

  /// The n-th call from now on fails, and the `count - 1` after it; n = 1 is the next.
  void fail_call(int n, Fault fault, int count = 1) {
    fault_ = fault;
    calls_ = 0;
    last_ = n + count - 1;
    first_ = n;
  }
  [[nodiscard]] int calls() const { return calls_; }

  /// Each call of the verb (`publish`, `get_event`, …) fails with this error, and nothing is done.
  /// To be said before other threads use the store.
  void fail_verb(const std::string& verb, Error error) { refused_.insert_or_assign(verb, std::move(error)); }

  Result<std::vector<store::PublishOutcome>> publish(std::span<const store::NewEvent> events) override {
    return pass("publish", [&] { return inner_.publish(events); });
  }
  Result<std::vector<store::ClaimedEvent>> claim(const store::ClaimRequest& request) override {
    return pass("claim", [&] { return inner_.claim(request); });
  }
  using store::Claiming::settle;
  Result<store::SettleReport> settle(std::span<const store::SettleItem> items,
                                     std::optional<store::RegistryVersion> based_on) override {
    return pass("settle", [&] { return inner_.settle(items, based_on); });
  }
  Result<std::unique_ptr<store::EffectTransaction>> begin_effect(Duration longest_idle) override {
    return pass("begin_effect", [&] { return inner_.begin_effect(longest_idle); });
  }
  Result<std::vector<Uuid>> heartbeat(std::span<const store::ClaimRef> claims, Duration ttl) override {
    return pass("heartbeat", [&] { return inner_.heartbeat(claims, ttl); });
  }
  Result<std::vector<store::HandledKey>> already_handled(std::span<const store::HandledKey> keys) override {
    return pass("already_handled", [&] { return inner_.already_handled(keys); });
  }
  Result<std::optional<Timestamp>> next_due(Generation generation, const std::vector<std::string>& handlers) override {
    return pass("next_due", [&] { return inner_.next_due(generation, handlers); });
  }
  Result<std::vector<store::ExpiredClaim>> expired_claims(int limit) override {
    return pass("expired_claims", [&] { return inner_.expired_claims(limit); });
  }
  Result<std::vector<store::ExpiredClaim>> claims_held_by(const std::string& identity, int limit) override {
    return pass("claims_held_by", [&] { return inner_.claims_held_by(identity, limit); });
  }
  Result<store::RetentionReport> sweep_retention(const RetentionPolicies& policies, int limit, bool dry_run) override {
    return pass("sweep_retention", [&] { return inner_.sweep_retention(policies, limit, dry_run); });
  }
  Result<Timestamp> now() override {
    return pass("now", [&] { return inner_.now(); });
  }
  Result<store::EventPage> list_events(const store::EventFilter& filter, int limit,
                                       std::optional<std::int64_t> before_seq) override {
    return pass("list_events", [&] { return inner_.list_events(filter, limit, before_seq); });
  }
  Result<store::EventRecord> get_event(const Uuid& id) override {
    return pass("get_event", [&] { return inner_.get_event(id); });
  }
  Result<std::vector<store::HandledRecord>> handled(const store::EventRecord& event) override {
    return pass("handled", [&] { return inner_.handled(event); });
  }
  Result<std::vector<store::AuditRecord>> audit_of(const Uuid& event_id) override {
    return pass("audit_of", [&] { return inner_.audit_of(event_id); });
  }
  Result<std::optional<Uuid>> key_blocker(const store::EventRecord& event) override {
    return pass("key_blocker", [&] { return inner_.key_blocker(event); });
  }
  Result<store::StoreStatus> status() override {
    return pass("status", [&] { return inner_.status(); });
  }
  Result<store::ReplayReport> replay(const Uuid& id, Generation new_generation, const store::Actor& actor) override {
    return pass("replay", [&] { return inner_.replay(id, new_generation, actor); });
  }
  Result<void> discard(const Uuid& id, const store::Actor& actor) override {
    return pass("discard", [&] { return inner_.discard(id, actor); });
  }
  Result<void> restore(const Uuid& id, const store::Actor& actor) override {
    return pass("restore", [&] { return inner_.restore(id, actor); });
  }
  Result<std::vector<store::Deployment>> deployments() override {
    return pass("deployments", [&] { return inner_.deployments(); });
  }
  Result<store::Deployment> allocate_generation(std::optional<Generation> wanted, const std::string& note,
                                                const store::Actor& actor) override {
    return pass("allocate_generation", [&] { return inner_.allocate_generation(wanted, note, actor); });
  }
  Result<store::Deployment> move_generation(Generation generation, GenerationState to,
                                            const store::Actor& actor) override {
    return pass("move_generation", [&] { return inner_.move_generation(generation, to, actor); });
  }
  Result<std::vector<store::OpenPublisher>> open_publishers(Generation generation) override {
    return pass("open_publishers", [&] { return inner_.open_publishers(generation); });
  }
  Result<std::int64_t> reroute(Generation from, Generation to, int limit, const store::Actor& actor) override {
    return pass("reroute", [&] { return inner_.reroute(from, to, limit, actor); });
  }
  Result<Generation> default_generation() override {
    return pass("default_generation", [&] { return inner_.default_generation(); });
  }
  Result<store::DeadPage> list_dead(const store::EventFilter& filter, int limit,
                                    const std::optional<store::DeadCursor>& after) override {
    return pass("list_dead", [&] { return inner_.list_dead(filter, limit, after); });
  }
  Result<std::int64_t> count_dead(const store::EventFilter& filter, std::int64_t limit) override {
    return pass("count_dead", [&] { return inner_.count_dead(filter, limit); });
  }
  Result<std::vector<store::FailureGroup>> failure_groups(const store::EventFilter& filter) override {
    return pass("failure_groups", [&] { return inner_.failure_groups(filter); });
  }
  Result<std::int64_t> acknowledge(const std::string& fingerprint, bool known, const store::Actor& actor) override {
    return pass("acknowledge", [&] { return inner_.acknowledge(fingerprint, known, actor); });
  }
  Result<store::OperationRecord> plan_operation(const store::PlanRequest& request) override {
    return pass("plan_operation", [&] { return inner_.plan_operation(request); });
  }
  Result<store::OperationRecord> operation(const Uuid& id) override {
    return pass("operation", [&] { return inner_.operation(id); });
  }
  Result<std::vector<store::OperationRecord>> operations(int limit) override {
    return pass("operations", [&] { return inner_.operations(limit); });
  }
  Result<std::vector<store::OperationItem>> operation_items(const Uuid& id, int limit, std::int64_t after) override {
    return pass("operation_items", [&] { return inner_.operation_items(id, limit, after); });
  }
  Result<store::OperationRecord> start_operation(const Uuid& id, std::int64_t confirmed,
                                                 const OperationSettings& settings,
                                                 const store::Actor& actor) override {
    return pass("start_operation", [&] { return inner_.start_operation(id, confirmed, settings, actor); });
  }
  Result<store::OperationRecord> change_operation(const Uuid& id, const store::OperationChange& change,
                                                  const store::Actor& actor) override {
    return pass("change_operation", [&] { return inner_.change_operation(id, change, actor); });
  }
  Result<std::vector<Uuid>> runnable_operations(const std::string& executor) override {
    return pass("runnable_operations", [&] { return inner_.runnable_operations(executor); });
  }
  Result<store::OperationRecord> hold_operation(const Uuid& id, const std::string& executor, Duration lease) override {
    return pass("hold_operation", [&] { return inner_.hold_operation(id, executor, lease); });
  }
  Result<store::OperationRecord> advance_operation(const Uuid& id, const std::string& executor, int limit,
                                                   Timestamp paced_at) override {
    return pass("advance_operation", [&] { return inner_.advance_operation(id, executor, limit, paced_at); });
  }
  Result<store::OperationRecord> end_operation(const Uuid& id, const std::string& executor, OperationState to,
                                               const std::string& note) override {
    return pass("end_operation", [&] { return inner_.end_operation(id, executor, to, note); });
  }
  Result<void> release_operation(const Uuid& id, const std::string& executor) override {
    return pass("release_operation", [&] { return inner_.release_operation(id, executor); });
  }
  Result<std::vector<store::AuditRecord>> audit(const store::AuditFilter& filter, int limit,
                                                std::optional<std::int64_t> before_id) override {
    return pass("audit", [&] { return inner_.audit(filter, limit, before_id); });
  }
  Result<store::Diagnosis> diagnose() override {
    return pass("diagnose", [&] { return inner_.diagnose(); });
  }
  Result<store::Diagnosis> glance() override {
    return pass("glance", [&] { return inner_.glance(); });
  }
  Result<store::StoreGauges> gauges() override {
    return pass("gauges", [&] { return inner_.gauges(); });
  }
  Result<store::DueBacklog> due_backlog() override {
    return pass("due_backlog", [&] { return inner_.due_backlog(); });
  }
  Result<std::vector<store::OverdueEvent>> overdue(const store::OverdueQuery& query) override {
    return pass("overdue", [&] { return inner_.overdue(query); });
  }
  Result<double> notify_queue_usage() override {
    return pass("notify_queue_usage", [&] { return inner_.notify_queue_usage(); });
  }
  Result<void> subscribe(Generation generation, std::span<const Subscription> subscriptions) override {
    return pass("subscribe", [&] { return inner_.subscribe(generation, subscriptions); });
  }
  Result<void> unsubscribe(Generation generation, const std::string& handler_name, const store::Actor& actor) override {
    return pass("unsubscribe", [&] { return inner_.unsubscribe(generation, handler_name, actor); });
  }
  Result<store::Registry> registry(Generation generation) override {
    return pass("registry", [&] { return inner_.registry(generation); });
  }
  Result<std::vector<store::SubscriptionRecord>> subscriptions() override {
    return pass("subscriptions", [&] { return inner_.subscriptions(); });
  }
  Result<std::vector<store::UnsubscribedCount>> unsubscribed() override {
    return pass("unsubscribed", [&] { return inner_.unsubscribed(); });
  }
  Result<void> announce(const store::WorkerRecord& worker) override {
    return pass("announce", [&] { return inner_.announce(worker); });
  }
  Result<void> depart(const std::string& identity) override {
    return pass("depart", [&] { return inner_.depart(identity); });
  }
  Result<std::vector<store::WorkerRecord>> workers(Duration within) override {
    return pass("workers", [&] { return inner_.workers(within); });
  }
  Result<std::unique_ptr<store::Ear>> listen(const std::vector<std::string>& channels) override {
    return pass("listen", [&] { return inner_.listen(channels); });
  }
  Result<store::DoorbellMode> doorbell() override {
    return pass("doorbell", [&] { return inner_.doorbell(); });
  }
  Result<void> set_doorbell(store::DoorbellMode mode, const store::Actor& actor) override {
    return pass("set_doorbell", [&] { return inner_.set_doorbell(mode, actor); });
  }
  Result<store::SchemaVersion> schema_version() override {
    return pass("schema_version", [&] { return inner_.schema_version(); });
  }
  Result<std::vector<store::MigrationStep>> migrate() override {
    return pass("migrate", [&] { return inner_.migrate(); });
  }
  Result<std::vector<std::string>> validate() override {
    return pass("validate", [&] { return inner_.validate(); });
  }
  [[nodiscard]] std::vector<store::MigrationText> migrations() const override { return inner_.migrations(); }
  Result<std::vector<std::string>> grant(std::optional<store::Grant> role, const std::string& member) override {
    return pass("grant", [&] { return inner_.grant(role, member); });
  }
  [[nodiscard]] store::Capabilities capabilities() const override { return inner_.capabilities(); }
  [[nodiscard]] std::string display_name() const override { return inner_.display_name(); }

 private:
  template <class Call>
  auto pass(std::string_view verb, Call call) -> decltype(call()) {
    if (const auto refused = refused_.find(verb); refused != refused_.end()) return refused->second;
    const int number = ++calls_;
    if (number < first_ || number > last_) return call();
    if (fault_ == Fault::before) return Error{ErrorCode::unavailable, Retry::safe, "the store is away", {}, {}};
    (void)call();
    return Error{ErrorCode::unavailable, Retry::in_doubt, "the answer was lost", {}, {}};
  }

  std::unique_ptr<store::Store> owned_;  // empty when somebody else owns it
  store::Store& inner_;
  std::map<std::string, Error, std::less<>> refused_;
  std::atomic<int> calls_ = 0;
  std::atomic<int> first_ = 0;  // 0 with last_ 0: no call fails
  std::atomic<int> last_ = 0;
  std::atomic<Fault> fault_ = Fault::before;
};

}  // namespace sluice::test
