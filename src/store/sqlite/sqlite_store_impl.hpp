// The class behind open_sqlite, declared once; its roles are defined by topic in the files beside it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store/sqlite/bell.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/group_commit.hpp"
#include "store/store.hpp"

namespace sluice::store::sqlite {

/// One caller's publish, on its way into a commit that it may share with others.
struct PublishCall {
  std::span<const NewEvent> events;
  Result<std::vector<PublishOutcome>> outcomes = std::vector<PublishOutcome>{};
};

class SqliteStore final : public Store, public MoveSource {
 public:
  SqliteStore(std::unique_ptr<Database> database, std::string path, std::function<Timestamp()> clock, std::int64_t boot)
      : database_(std::move(database)),
        path_(std::move(path)),
        clock_(std::move(clock)),
        boot_(boot),
        bell_(Bell::of(path_)) {}

  Result<std::vector<PublishOutcome>> publish(std::span<const NewEvent> events) override;
  /// How many callers of publish() wait for a commit that has not begun.
  [[nodiscard]] std::size_t publishers_waiting() const { return publishing_.waiting(); }

  Result<std::vector<ClaimedEvent>> claim(const ClaimRequest& request) override;
  using Claiming::settle;
  Result<SettleReport> settle(std::span<const SettleItem> items, std::optional<RegistryVersion> based_on) override;
  Result<std::unique_ptr<EffectTransaction>> begin_effect(Duration longest_idle) override;
  Result<std::vector<Uuid>> heartbeat(std::span<const ClaimRef> claims, Duration ttl) override;
  Result<std::vector<HandledKey>> already_handled(std::span<const HandledKey> keys) override;
  Result<std::optional<Timestamp>> next_due(Generation generation, const std::vector<std::string>& handlers) override;
  Result<std::vector<Reported>> report(std::span<const ConsumerReport> reports) override;
  Result<std::vector<RelayedEvent>> relayed(std::span<const Uuid> ids) override;
  Result<RelaySwitch> relay() override;
  Result<RelaySwitch> switch_relay(RelayState to, const std::string& broker, const Actor& actor) override;
  Result<std::string> token_secret() override;

  Result<std::vector<ExpiredClaim>> expired_claims(int limit) override;
  Result<std::vector<ExpiredClaim>> claims_held_by(const std::string& identity, int limit) override;
  Result<bool> generation_exists(Generation generation) override;
  using Maintaining::sweep_retention;
  Result<RetentionReport> sweep_retention(const RetentionPolicies& policies, int limit, bool dry_run,
                                          const Actor& actor) override;
  Result<PruneReport> prune(const RetentionPolicies& policies) override;
  Result<std::optional<PartitionChange>> keep_partitions(const RetentionPolicies&, bool, const Actor&) override {
    return std::optional<PartitionChange>{};
  }
  Result<PartitionLayout> partition_layout() override { return PartitionLayout{}; }
  Result<std::vector<std::string>> partition_obstacles() override { return no_partitions(); }
  Result<std::vector<std::string>> partition_sql(const PartitionRequest&) override { return no_partitions(); }
  Result<void> take_partition_step(const PartitionRequest&, const Actor&) override { return no_partitions(); }
  Result<void> abandon_partition(const Actor&) override { return no_partitions(); }

  Result<bool> has_index(SearchIndex) override { return false; }
  Result<std::vector<std::string>> index_sql(const IndexRequest&) override { return no_indexes(); }
  Result<bool> take_index_step(const IndexRequest&, const Actor&) override { return no_indexes(); }
  Result<std::vector<SavedFilter>> saved_filters() override;
  Result<SavedFilter> save_filter(const std::string& name, const std::string& filter, const Actor& actor) override;
  Result<void> remove_filter(const std::string& name, const Actor& actor) override;

  Result<PatrolStep> patrol(const PatrolRequest& request) override;

  Result<void> record_ladder(const LadderSample& sample) override;
  Result<void> record_history(std::span<const HistoryRow> rows) override;
  Result<std::vector<LadderSample>> ladder_history() override;
  Result<std::vector<HistoryRow>> history(const HistoryQuery& query) override;

  Result<Timestamp> now() override { return clock_(); }
  Result<EventPage> list_events(const EventFilter& filter, int limit, std::optional<std::int64_t> after) override;
  Result<EventRecord> get_event(const Uuid& id) override;
  using Observing::handled;
  Result<std::vector<HandledRecord>> handled(std::span<const std::string> idempotency_keys) override;
  Result<std::vector<AuditRecord>> audit_of(const Uuid& event_id) override;
  Result<std::vector<AttemptRecord>> attempts_of(const Uuid& event_id) override;
  Result<std::optional<Uuid>> key_blocker(const EventRecord& event) override;
  Result<StoreStatus> status() override;
  Result<ReplayReport> replay(const Uuid& id, Generation new_generation, const Actor& actor) override;
  Result<ReplayReport> send_to(const HandlerReplay& request, const Actor& actor) override;
  Result<ReplayReport> replay_edited(const EditedReplay& request, const Actor& actor) override;
  Result<void> schedule(const Uuid& id, std::optional<Timestamp> due, const Actor& actor) override;
  Result<void> cancel(const Uuid& id, const Actor& actor) override;
  Result<void> discard(const Uuid& id, const Actor& actor) override;
  Result<void> restore(const Uuid& id, const Actor& actor) override;

  Result<std::vector<Deployment>> deployments() override;
  Result<Deployment> allocate_generation(std::optional<Generation> wanted, const std::string& note,
                                         const Actor& actor) override;
  Result<Deployment> move_generation(Generation generation, GenerationState to, const Actor& actor) override;
  Result<std::vector<OpenPublisher>> open_publishers(Generation generation) override;
  Result<std::int64_t> reroute(Generation from, Generation to, int limit, const Actor& actor) override;
  Result<Generation> default_generation() override;

  Result<DeadPage> list_dead(const EventFilter& filter, int limit, const std::optional<DeadCursor>& after) override;
  Result<std::int64_t> count_dead(const EventFilter& filter, std::int64_t limit) override;
  Result<std::int64_t> count_unacknowledged(std::int64_t limit) override;
  Result<std::int64_t> count_dead_ahead(const Uuid& operation_id, const EventFilter& filter,
                                        std::int64_t limit) override;
  Result<std::vector<Uuid>> ids_from(const std::string& digits, int limit) override;
  Result<std::vector<std::string>> fingerprints(const std::string& prefix, int limit) override;
  Result<std::vector<FailureGroup>> failure_groups(const EventFilter& filter) override;
  Result<std::vector<std::int64_t>> failure_histogram(const EventFilter& filter, const HistogramGrid& grid) override;
  Result<std::vector<AuditRecord>> audit_of_group(const std::string& fingerprint, int limit) override;
  Result<std::int64_t> acknowledge(const std::string& fingerprint, bool known, const Actor& actor) override;
  Result<std::int64_t> note(const std::string& fingerprint, const Actor& author) override;

  Result<OperationRecord> plan_operation(const PlanRequest& request) override;
  Result<OperationRecord> operation(const Uuid& id) override;
  Result<std::vector<OperationRecord>> operations(int limit) override;
  Result<std::vector<OperationItem>> operation_items(const Uuid& id, int limit, std::int64_t after) override;
  Result<OperationRecord> start_operation(const Uuid& id, std::int64_t confirmed, const OperationSettings& settings,
                                          const Actor& actor) override;
  Result<OperationRecord> change_operation(const Uuid& id, const OperationChange& change, const Actor& actor) override;
  Result<std::vector<Uuid>> runnable_operations(const std::string& executor) override;
  Result<OperationRecord> hold_operation(const Uuid& id, const std::string& executor, Duration lease) override;
  Result<OperationRecord> advance_operation(const Uuid& id, const std::string& executor, int limit,
                                            Timestamp paced_at) override;
  Result<OperationRecord> end_operation(const Uuid& id, const std::string& executor, OperationState to,
                                        const std::string& note) override;
  Result<void> release_operation(const Uuid& id, const std::string& executor) override;

  Result<std::vector<AuditRecord>> audit(const AuditFilter& filter, int limit,
                                         std::optional<std::int64_t> before_id) override;

  Result<Diagnosis> diagnose(DiagnosisDepth depth) override;
  Result<DueBacklog> due_backlog() override;
  Result<std::vector<OverdueEvent>> overdue(const OverdueQuery& query) override;
  Result<double> notify_queue_usage() override;
  Result<StoreGauges> gauges() override;

  using Claiming::subscribe;
  Result<void> subscribe(Generation generation, std::span<const Subscription> subscriptions,
                         const std::string& declared_by) override;
  Result<void> unsubscribe(Generation generation, const std::string& handler_name, const Actor& actor) override;
  Result<Registry> registry(Generation generation) override;
  Result<std::vector<SubscriptionRecord>> subscriptions() override;
  Result<std::vector<UnsubscribedCount>> unsubscribed() override;
  Result<void> announce(const WorkerRecord& worker) override;
  Result<void> depart(const std::string& identity) override;
  Result<std::vector<WorkerRecord>> workers(Duration within) override;

  Result<void> declare_sinks(std::span<const SinkDeclaration> sinks) override;
  Result<SinkRecords> sinks() override;
  Result<SinkRecord> switch_sink(const std::string& name, SinkSwitch to, const Actor& actor) override;
  Result<SinkRecord> move_circuit(const std::string& name, std::optional<Duration> open_for,
                                  const Actor& actor) override;

  Result<std::unique_ptr<ListenerConnection>> listen(const std::vector<std::string>& channels) override;
  Result<DoorbellMode> doorbell() override;
  Result<void> set_doorbell(DoorbellMode mode, const Actor& actor) override;

  Result<SchemaVersion> schema_version() override;
  Result<std::vector<MigrationStep>> migrate() override;
  Result<std::vector<std::string>> validate() override;
  [[nodiscard]] std::vector<MigrationText> migrations() const override;
  Result<std::vector<std::string>> grant(std::optional<Grant> grant, const std::string& member) override;

  MoveSource* move_source() override { return this; }
  Result<std::vector<MoveSlice>> slices() override;
  Result<std::vector<MoveSlice>> touched(MoveNotes& notes) override;
  Result<MoveNotes> note_writes() override;
  Result<std::vector<std::string>> rows(const MoveSlice& slice) override;
  Result<std::optional<std::string>> home() override;
  Result<std::int64_t> in_flight() override;
  Result<void> hold_claims(Duration length, const std::string& home) override;
  Result<std::unique_ptr<MoveSwitch>> begin_switch() override;

  [[nodiscard]] Capabilities capabilities() const override { return {.embedded = true}; }
  [[nodiscard]] std::string display_name() const override { return path_; }

 private:
  static Error no_partitions() {
    return invalid("store", "an embedded store is one file and has no partitions: they need PostgreSQL");
  }
  static Error no_indexes() {
    return invalid("store", "an embedded store has no index of payloads or trace ids: search within a time range");
  }
  // Bounds how long a commit of many publishers keeps the others waiting.
  static constexpr std::size_t kMostRowsPerCommit = 1000;

  void publish_together(std::span<PublishCall* const> calls);

  std::unique_ptr<Database> database_;
  std::atomic<bool> claimed_nothing_ = false;  // by the latest claim
  std::string path_;
  std::function<Timestamp()> clock_;
  std::int64_t boot_;  // named by every claim as its batch
  GroupCommit<PublishCall> publishing_{[this](std::span<PublishCall* const> calls) { publish_together(calls); },
                                       kMostRowsPerCommit};
  std::shared_ptr<Bell> bell_;  // notified after each commit that makes something claimable
};

/// What happened, for record_audit.
struct AuditEntry {
  Timestamp at;
  std::string_view action;
  std::optional<Uuid> event_id;
  std::string detail = "{}";
  std::int64_t count = 1;
};

/// invalid (field `reason`) when there is none; `purpose` goes on after "give a reason to".
Result<void> need_reason(const Actor& actor, std::string_view purpose);

/// Writes one audit record; call it in the transaction of the change.
Result<void> record_audit(Connection& connection, const Actor& actor, const AuditEntry& entry);

}  // namespace sluice::store::sqlite
