// The class behind open_postgres; its roles are implemented in one file each.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "core/redact.hpp"
#include "store/postgres/event_numbers.hpp"
#include "store/postgres/open_batch.hpp"
#include "store/postgres/pending_reader.hpp"
#include "store/postgres/postgres_store.hpp"
#include "store/postgres/pq_pool.hpp"
#include "store/postgres/scan_stretches.hpp"

namespace sluice::store {

class PostgresStore final : public Store, public MoveTarget {
 public:
  explicit PostgresStore(PostgresOptions options);

  /// Connects once and, unless told otherwise, checks the schema.
  Result<void> start();

  // Publishing
  Result<std::vector<PublishOutcome>> publish(std::span<const NewEvent> events) override;
  // Claiming
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
  // Claims that ran out, retention
  Result<std::vector<ExpiredClaim>> expired_claims(int limit) override;
  Result<std::vector<ExpiredClaim>> claims_held_by(const std::string& identity, int limit) override;
  Result<bool> generation_exists(Generation generation) override;
  using Maintaining::sweep_retention;
  Result<RetentionReport> sweep_retention(const RetentionPolicies& policies, int limit, bool dry_run,
                                          const Actor& actor) override;
  Result<PruneReport> prune(const RetentionPolicies& policies) override;
  Result<std::optional<PartitionChange>> keep_partitions(const RetentionPolicies& policies, bool dry_run,
                                                         const Actor& actor) override;
  // Partitions
  Result<PartitionLayout> partition_layout() override;
  Result<std::vector<std::string>> partition_obstacles() override;
  Result<std::vector<std::string>> partition_sql(const PartitionRequest& request) override;
  Result<void> take_partition_step(const PartitionRequest& request, const Actor& actor) override;
  Result<void> abandon_partition(const Actor& actor) override;
  // The patrol
  Result<PatrolStep> patrol(const PatrolRequest& request) override;
  // The ladder
  Result<void> record_ladder(const LadderSample& sample) override;
  Result<void> record_history(std::span<const HistoryRow> rows) override;
  Result<std::vector<LadderSample>> ladder_history() override;
  Result<std::vector<HistoryRow>> history(const HistoryQuery& query) override;
  // Events and generations
  Result<Timestamp> now() override;
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
  // Dead letters
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
  // Operations
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
  // The audit
  Result<std::vector<AuditRecord>> audit(const AuditFilter& filter, int limit,
                                         std::optional<std::int64_t> before_id) override;
  // Diagnosis
  Result<Diagnosis> diagnose(DiagnosisDepth depth) override;
  Result<DueBacklog> due_backlog() override;
  Result<std::vector<OverdueEvent>> overdue(const OverdueQuery& query) override;
  Result<double> notify_queue_usage() override;
  // Gauges
  Result<StoreGauges> gauges() override;
  // Subscriptions and workers
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
  // Sinks
  Result<void> declare_sinks(std::span<const SinkDeclaration> sinks) override;
  Result<SinkRecords> sinks() override;
  Result<SinkRecord> switch_sink(const std::string& name, SinkSwitch to, const Actor& actor) override;
  Result<SinkRecord> move_circuit(const std::string& name, std::optional<Duration> open_for,
                                  const Actor& actor) override;
  // Notifications
  Result<std::unique_ptr<ListenerConnection>> listen(const std::vector<std::string>& channels) override;
  Result<DoorbellMode> doorbell() override;
  Result<void> set_doorbell(DoorbellMode mode, const Actor& actor) override;
  // Searches
  Result<bool> has_index(SearchIndex index) override;
  Result<std::vector<std::string>> index_sql(const IndexRequest& request) override;
  Result<bool> take_index_step(const IndexRequest& request, const Actor& actor) override;
  Result<std::vector<SavedFilter>> saved_filters() override;
  Result<SavedFilter> save_filter(const std::string& name, const std::string& filter, const Actor& actor) override;
  Result<void> remove_filter(const std::string& name, const Actor& actor) override;
  // The schema
  Result<SchemaVersion> schema_version() override;
  Result<std::vector<MigrationStep>> migrate() override;
  Result<std::vector<std::string>> validate() override;
  [[nodiscard]] std::vector<MigrationText> migrations() const override;
  Result<std::vector<std::string>> grant(std::optional<Grant> grant, const std::string& member) override;

  // Moving in
  MoveTarget* move_target() override { return this; }
  Result<MoveState> move_state() override;
  Result<void> begin_move(const std::string& from) override;
  Result<std::vector<MovedSlice>> moved_slices() override;
  Result<void> import_slice(const MovedSlice& slice, std::span<const std::string> rows) override;
  Result<std::int64_t> differing(const MoveSlice& slice, std::span<const std::string> rows) override;
  Result<std::vector<std::int64_t>> move_totals() override;
  Result<void> finish_move(const Actor& actor) override;
  Result<void> undo_move() override;

  [[nodiscard]] Capabilities capabilities() const override {
    return {.listen = true, .roles = true, .partitions = true, .search_indexes = true, .embedded = false};
  }
  [[nodiscard]] std::string display_name() const override { return redact_dsn(options_.dsn); }

  /// A settle of these begins. When it is over one of the other two is called, with what this one returned.
  BatchesSettling begin_settle(std::span<const SettleItem> items);
  /// Returns the batches whose claims are left to close; see OpenBatches.
  std::vector<std::int64_t> settle_succeeded(const BatchesSettling& settling);
  void settle_failed(const BatchesSettling& settling);
  /// For the next claims: they waited for ordering keys that were released. A claim that does not look at them loses
  /// nothing: they lie above the low mark.
  void remember(const EventNumbers& next);

  /// How many claimed batches this process has not settled, as far as it keeps account of them.
  std::size_t open_batches();

 private:
  /// The workers that scan together: same generation, contexts and channels. What it knows stands on claims whose
  /// commits did not wait for the disk: after a crash of the server some may be forgotten and their events new again.
  struct ScanGroup {
    std::uint64_t learnt = 0;  ///< the pool's opened() when the mark was loaded
    ScanStretches stretches;
    std::set<std::int64_t> next;  ///< waited for a key that was released: for the next claim, which may lose them
    bool waited_first = false;    ///< the latest claim gave the larger half to what had waited
    std::int64_t low = 0;  ///< the group's mark in the database when it was last seen: tells whether to look back
    std::int64_t looked_upto = 0;                        ///< how far the last look back has read
    Duration pause{};                                    ///< between looks back of who rests
    std::chrono::steady_clock::time_point next_look{};   ///< back, while there is work
    std::chrono::steady_clock::time_point not_before{};  ///< a look back that soon would cost too much
    /// The numbers that nobody had, or whose events were new, when what lies behind the head was last read, where that
    /// is dear: late commits have one of them.
    struct Holes {
      std::vector<std::int64_t> after;
      std::vector<std::int64_t> upto;
      std::int64_t read_upto = 0;                     ///< what lies above has to be read as it is
      std::chrono::steady_clock::time_point until{};  ///< then everything is read again
    };
    std::optional<Holes> holes;
    Duration spent{};                                         ///< by the last look at everything
    bool begun = false;                                       ///< somebody has scanned ahead from the mark
    std::chrono::steady_clock::time_point left_to_another{};  ///< somebody does, for so long
    bool scanning = false;                                    ///< a thread of this process reads everything
    bool more_behind = false;  ///< the last look back found more than it took, or is due and had no room
    bool owed = false;         ///< somebody rests who has not looked
    std::chrono::steady_clock::time_point used{};  ///< by the latest claim
    std::set<std::vector<std::string>> users;      ///< the handlers of those who claim in it, sorted
  };

  /// Runs one statement on a connection of the pool.
  Result<pq::Rows> run(const pq::Statement& statement, const pq::Params& params = {});

  /// The events that can have this status; none: that is not known, or they are many.
  Result<std::optional<EventNumbers>> numbers_with(std::optional<Status> status);

  // What the scan ahead (postgres_claim.cpp) and the one that goes back (postgres_rescan.cpp) share.
  // Longer than all times that anybody may write: programs without one write that of the year 1.
  static constexpr Duration kEver = std::chrono::years{5000};
  static constexpr int kRestAfterDearLook = 19;  ///< times what it took
  /// What waits for a claim here and is one too many is left to a rescan.
  static constexpr int kMostNext = 10'000;
  static std::vector<std::string> sorted(std::vector<std::string> handlers) {
    std::sort(handlers.begin(), handlers.end());
    return handlers;
  }
  static bool is_of_generation(std::string_view group, Generation generation) {
    return group.substr(0, group.find_first_of("|#")) == std::to_string(generation);
  }

  Result<ScanGroup*> scan_group(const std::string& key);
  /// Whether the server can have forgotten nothing since then; under mutex_.
  [[nodiscard]] bool still_known(const ScanGroup& group, std::uint64_t learnt) const {
    return group.learnt == learnt && pool_.opened() == learnt;
  }
  struct Taken {
    std::vector<ClaimedEvent> events;
    StretchView view;
    std::optional<Duration> due_age;  ///< since the latest of those that were due became so

    /// A broker carries the deliveries; or what is due left no room, and others were faster.
    [[nodiscard]] bool looked_at_nothing() const { return events.empty() && !view.looked_up_to; }
  };
  /// When those who host the same handlers last looked at all that is due for them.
  struct DueLook {
    std::chrono::steady_clock::time_point last{};
    std::chrono::steady_clock::time_point not_before{};       ///< another one so soon would cost too much
    std::chrono::steady_clock::time_point left_to_another{};  ///< until then: a thread of this process makes one
    Duration cost{};                                          ///< of the last one
    bool again = false;                                       ///< the one under way may have begun too early
    bool owed = false;                                        ///< somebody rests who has not looked at all
    std::vector<std::string> handlers;                        ///< whose it is, sorted

    [[nodiscard]] std::chrono::steady_clock::time_point next() const { return std::max(not_before, left_to_another); }
  };
  DueLook& due_look(const std::string& key, const ClaimRequest& request);
  Duration due_within(DueLook& due);
  void looked_at_due(DueLook& due, std::chrono::steady_clock::time_point start, Duration within, const Taken* taken);
  Result<Taken> take_due_first(const std::string& key, const ClaimRequest& request, const Stretch& stretch, int limit,
                               std::span<const std::int64_t> next);
  Result<void> reserve(const std::string& key, ScanGroup& group, int limit);
  /// What the group had learnt, where the caller begins; or another thread does.
  struct Beginning {
    std::optional<std::uint64_t> learnt;
    bool elsewhere = false;
  };
  Beginning begin_ahead(ScanGroup& group);
  void end_beginning(ScanGroup& group, std::uint64_t learnt, bool looked);
  static std::vector<std::int64_t> next_of_keys(ScanGroup& group, int room, bool larger_half);
  Result<std::vector<ClaimedEvent>> claim_ahead(const std::string& key, const ClaimRequest& request, ScanGroup& group,
                                                int limit);
  Result<Taken> take(const ClaimRequest& request, const Stretch& stretch, int limit, bool due,
                     std::span<const std::int64_t> next, Duration within);
  /// The new events of a swift stretch; nothing when something is due. An error of kind timeout: a rival was met.
  Result<Taken> take_swiftly(const ClaimRequest& request, const Stretch& stretch, Duration within);
  Taken taken_from(const pq::Rows& rows, const ClaimRequest& request, const Stretch& stretch, const StretchView& view);
  void forget_expired_claims();  // under mutex_
  Result<std::vector<ClaimedEvent>> claim_due(const std::string& key, const ClaimRequest& request, ScanGroup& group,
                                              int limit);
  Result<std::vector<ClaimedEvent>> claim_behind(const std::string& key, const ClaimRequest& request, ScanGroup& group,
                                                 int limit, bool about_to_rest);
  /// Everything behind the head, as it was when the rescan began.
  struct Rescan {
    std::uint64_t learnt = 0;
    std::int64_t from = 0;
    std::int64_t upto = 0;
    bool dear = false;  ///< worth knowing the numbers that nobody has
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  };
  Result<std::vector<ClaimedEvent>> scan_behind(const std::string& key, const ClaimRequest& request, ScanGroup& group,
                                                int limit, const Rescan& rescan);
  Result<std::vector<ClaimedEvent>> glance_behind(const ClaimRequest& request, ScanGroup& group, int limit,
                                                  ScanGroup::Holes holes, const Rescan& rescan);
  Result<std::optional<ScanGroup::Holes>> read_holes(const ClaimRequest& request, std::int64_t low, std::int64_t upto);
  Result<void> extend_holes(const ClaimRequest& request, ScanGroup& group, ScanGroup::Holes& holes,
                            const Rescan& rescan);
  void looked_back(ScanGroup& group, std::chrono::steady_clock::time_point start, Duration spent, bool moved, int found,
                   int limit);
  bool look_back_first(ScanGroup& group);
  bool wants_look_back(ScanGroup& group, bool about_to_rest, int room);
  /// The walks, from the beginning where the server may have forgotten claims since; under walks_mutex_, with a lease.
  PendingWalks& current_walks();
  std::optional<Duration> owed_look(Generation generation, const std::vector<std::string>& handlers);
  Result<void> tombstone(const Uuid& id, bool discard, const Actor& actor);
  void notice_database(std::int64_t settings_table);

  PostgresOptions options_;
  pq::Pool pool_;
  std::mutex mutex_;                              // guards the two maps, the open batches and what they hold
  std::map<std::string, ScanGroup> scan_groups_;  // nodes stay put
  std::map<std::string, DueLook> due_looks_;      // likewise
  OpenBatches open_claims_;
  std::atomic<bool> careful_ = false;  // a payload was met that cannot be written: claims count before they write
  std::chrono::steady_clock::time_point next_forget_{};  // of those that ran out
  std::mutex walks_mutex_;                               // guards the walks; held by whoever leads them
  PendingWalks walks_;
  std::uint64_t walks_learnt_ = 0;                // the pool's opened() when they began
  std::atomic<std::int64_t> settings_table_ = 0;  // tells one schema from the next; 0: not known yet
};

}  // namespace sluice::store
