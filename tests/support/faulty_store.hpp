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
#include "tests/support/faulty_administering.hpp"

namespace sluice::test {

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

  Result<std::vector<store::PublishOutcome>> publish(std::span<const store::NewEvent> events) override;
  Result<std::vector<store::ClaimedEvent>> claim(const store::ClaimRequest& request) override;
  using store::Claiming::settle;
  Result<store::SettleReport> settle(std::span<const store::SettleItem> items,
                                     std::optional<store::RegistryVersion> based_on) override;
  Result<std::unique_ptr<store::EffectTransaction>> begin_effect(Duration longest_idle) override;
  Result<std::vector<Uuid>> heartbeat(std::span<const store::ClaimRef> claims, Duration ttl) override;
  Result<std::vector<store::HandledKey>> already_handled(std::span<const store::HandledKey> keys) override;
  Result<std::optional<Timestamp>> next_due(Generation generation, const std::vector<std::string>& handlers) override;
  Result<std::vector<store::Reported>> report(std::span<const store::ConsumerReport> reports) override;
  Result<std::vector<store::RelayedEvent>> relayed(std::span<const Uuid> ids) override;
  Result<store::RelaySwitch> relay() override;
  Result<store::RelaySwitch> switch_relay(store::RelayState to, const std::string& broker,
                                          const store::Actor& actor) override;
  Result<std::string> token_secret() override;
  Result<std::vector<store::ExpiredClaim>> expired_claims(int limit) override;
  Result<std::vector<store::ExpiredClaim>> claims_held_by(const std::string& identity, int limit) override;
  Result<bool> generation_exists(Generation generation) override;
  using Maintaining::sweep_retention;
  Result<store::RetentionReport> sweep_retention(const RetentionPolicies& policies, int limit, bool dry_run,
                                                 const store::Actor& actor) override;
  Result<store::PruneReport> prune(const RetentionPolicies& policies) override;
  Result<std::optional<store::PartitionChange>> keep_partitions(const RetentionPolicies& policies, bool dry_run,
                                                                const store::Actor& actor) override;
  Result<store::PartitionLayout> partition_layout() override;
  Result<std::vector<std::string>> partition_obstacles() override;
  Result<std::vector<std::string>> partition_sql(const store::PartitionRequest& request) override;
  Result<void> take_partition_step(const store::PartitionRequest& request, const store::Actor& actor) override;
  Result<void> abandon_partition(const store::Actor& actor) override;
  Result<bool> has_index(store::SearchIndex index) override;
  Result<std::vector<std::string>> index_sql(const store::IndexRequest& request) override;
  Result<bool> take_index_step(const store::IndexRequest& request, const store::Actor& actor) override;
  Result<std::vector<store::SavedFilter>> saved_filters() override;
  Result<store::SavedFilter> save_filter(const std::string& name, const std::string& filter,
                                         const store::Actor& actor) override;
  Result<void> remove_filter(const std::string& name, const store::Actor& actor) override;
  Result<store::PatrolStep> patrol(const store::PatrolRequest& request) override;
  Result<void> record_ladder(const LadderSample& sample) override;
  Result<void> record_history(std::span<const HistoryRow> rows) override;
  Result<std::vector<LadderSample>> ladder_history() override;
  Result<std::vector<HistoryRow>> history(const store::HistoryQuery& query) override;
  Result<Timestamp> now() override;
  Result<store::EventPage> list_events(const store::EventFilter& filter, int limit,
                                       std::optional<std::int64_t> after) override;
  Result<store::EventRecord> get_event(const Uuid& id) override;
  using Observing::handled;
  Result<std::vector<store::HandledRecord>> handled(std::span<const std::string> idempotency_keys) override;
  Result<std::vector<store::AuditRecord>> audit_of(const Uuid& event_id) override;
  Result<std::vector<store::AttemptRecord>> attempts_of(const Uuid& event_id) override;
  Result<std::optional<Uuid>> key_blocker(const store::EventRecord& event) override;
  Result<store::StoreStatus> status() override;
  Result<store::ReplayReport> replay(const Uuid& id, Generation new_generation, const store::Actor& actor) override;
  Result<store::ReplayReport> send_to(const store::HandlerReplay& request, const store::Actor& actor) override;
  Result<store::ReplayReport> replay_edited(const store::EditedReplay& request, const store::Actor& actor) override;
  Result<void> schedule(const Uuid& id, std::optional<Timestamp> due, const store::Actor& actor) override;
  Result<void> cancel(const Uuid& id, const store::Actor& actor) override;
  Result<void> discard(const Uuid& id, const store::Actor& actor) override;
  Result<void> restore(const Uuid& id, const store::Actor& actor) override;
  Result<std::vector<store::Deployment>> deployments() override;
  Result<store::Deployment> allocate_generation(std::optional<Generation> wanted, const std::string& note,
                                                const store::Actor& actor) override;
  Result<store::Deployment> move_generation(Generation generation, GenerationState to,
                                            const store::Actor& actor) override;
  Result<std::vector<store::OpenPublisher>> open_publishers(Generation generation) override;
  Result<std::int64_t> reroute(Generation from, Generation to, int limit, const store::Actor& actor) override;
  Result<Generation> default_generation() override;
  Result<store::DeadPage> list_dead(const store::EventFilter& filter, int limit,
                                    const std::optional<store::DeadCursor>& after) override;
  Result<std::int64_t> count_dead(const store::EventFilter& filter, std::int64_t limit) override;
  Result<std::int64_t> count_unacknowledged(std::int64_t limit) override;
  Result<std::int64_t> count_dead_ahead(const Uuid& operation_id, const store::EventFilter& filter,
                                        std::int64_t limit) override;
  Result<std::vector<Uuid>> ids_from(const std::string& digits, int limit) override;
  Result<std::vector<std::string>> fingerprints(const std::string& prefix, int limit) override;
  Result<std::vector<store::FailureGroup>> failure_groups(const store::EventFilter& filter) override;
  Result<std::vector<std::int64_t>> failure_histogram(const store::EventFilter& filter,
                                                      const store::HistogramGrid& grid) override;
  Result<std::vector<store::AuditRecord>> audit_of_group(const std::string& fingerprint, int limit) override;
  Result<std::int64_t> acknowledge(const std::string& fingerprint, bool known, const store::Actor& actor) override;
  Result<std::int64_t> note(const std::string& fingerprint, const store::Actor& author) override;
  Result<store::OperationRecord> plan_operation(const store::PlanRequest& request) override;
  Result<store::OperationRecord> operation(const Uuid& id) override;
  Result<std::vector<store::OperationRecord>> operations(int limit) override;
  Result<std::vector<store::OperationItem>> operation_items(const Uuid& id, int limit, std::int64_t after) override;
  Result<store::OperationRecord> start_operation(const Uuid& id, std::int64_t confirmed,
                                                 const OperationSettings& settings, const store::Actor& actor) override;
  Result<store::OperationRecord> change_operation(const Uuid& id, const store::OperationChange& change,
                                                  const store::Actor& actor) override;
  Result<std::vector<Uuid>> runnable_operations(const std::string& executor) override;
  Result<store::OperationRecord> hold_operation(const Uuid& id, const std::string& executor, Duration lease) override;
  Result<store::OperationRecord> advance_operation(const Uuid& id, const std::string& executor, int limit,
                                                   Timestamp paced_at) override;
  Result<store::OperationRecord> end_operation(const Uuid& id, const std::string& executor, OperationState to,
                                               const std::string& note) override;
  Result<void> release_operation(const Uuid& id, const std::string& executor) override;
  Result<std::vector<store::AuditRecord>> audit(const store::AuditFilter& filter, int limit,
                                                std::optional<std::int64_t> before_id) override;
  Result<store::Diagnosis> diagnose(store::DiagnosisDepth depth) override;
  Result<store::StoreGauges> gauges() override;
  Result<store::DueBacklog> due_backlog() override;
  Result<std::vector<store::OverdueEvent>> overdue(const store::OverdueQuery& query) override;
  Result<double> notify_queue_usage() override;
  using Claiming::subscribe;
  Result<void> subscribe(Generation generation, std::span<const Subscription> subscriptions,
                         const std::string& declared_by) override;
  Result<void> unsubscribe(Generation generation, const std::string& handler_name, const store::Actor& actor) override;
  Result<store::Registry> registry(Generation generation) override;
  Result<std::vector<store::SubscriptionRecord>> subscriptions() override;
  Result<std::vector<store::UnsubscribedCount>> unsubscribed() override;
  Result<void> announce(const store::WorkerRecord& worker) override;
  Result<void> depart(const std::string& identity) override;
  Result<std::vector<store::WorkerRecord>> workers(Duration within) override;
  Result<void> declare_sinks(std::span<const store::SinkDeclaration> sinks) override;
  Result<store::SinkRecords> sinks() override;
  Result<store::SinkRecord> switch_sink(const std::string& name, SinkSwitch to, const store::Actor& actor) override;
  Result<store::SinkRecord> move_circuit(const std::string& name, std::optional<Duration> open_for,
                                         const store::Actor& actor) override;
  Result<std::unique_ptr<store::ListenerConnection>> listen(const std::vector<std::string>& channels) override;
  Result<store::DoorbellMode> doorbell() override;
  Result<void> set_doorbell(store::DoorbellMode mode, const store::Actor& actor) override;
  Result<store::SchemaVersion> schema_version() override;
  Result<std::vector<store::MigrationStep>> migrate() override;
  Result<std::vector<std::string>> validate() override;
  [[nodiscard]] std::vector<store::MigrationText> migrations() const override;
  Result<std::vector<std::string>> grant(std::optional<store::Grant> role, const std::string& member) override;
  [[nodiscard]] store::Capabilities capabilities() const override;
  [[nodiscard]] std::string display_name() const override;

 private:
  template <class Call>
  auto pass(std::string_view verb, Call call) -> decltype(call());

  std::unique_ptr<store::Store> owned_;  // empty when somebody else owns it
  store::Store& inner_;
  std::map<std::string, Error, std::less<>> refused_;
  std::atomic<int> calls_ = 0;
  std::atomic<int> first_ = 0;  // 0 with last_ 0: no call fails
  std::atomic<int> last_ = 0;
  std::atomic<Fault> fault_ = Fault::before;
};

template <class Call>
auto FaultyStore::pass(std::string_view verb, Call call) -> decltype(call()) {
  if (const auto refused = refused_.find(verb); refused != refused_.end()) return refused->second;
  const int number = ++calls_;
  if (number < first_ || number > last_) return call();
  if (fault_ == Fault::before) return Error{ErrorCode::unavailable, Retry::safe, "the store is away", {}, {}};
  (void)call();
  return Error{ErrorCode::unavailable, Retry::in_doubt, "the answer was lost", {}, {}};
}

}  // namespace sluice::test
