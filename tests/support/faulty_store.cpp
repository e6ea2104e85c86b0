#include "tests/support/faulty_store.hpp"

namespace sluice::test {

template <class Call>
auto FaultyStore::pass(std::string_view verb, Call call) -> decltype(call()) {
  if (const auto refused = refused_.find(verb); refused != refused_.end()) return refused->second;
  const int number = ++calls_;
  if (number < first_ || number > last_) return call();
  if (fault_ == Fault::before) return Error{ErrorCode::unavailable, Retry::safe, "the store is away", {}, {}};
  (void)call();
  return Error{ErrorCode::unavailable, Retry::in_doubt, "the answer was lost", {}, {}};
}

Result<std::vector<store::PublishOutcome>> FaultyStore::publish(std::span<const store::NewEvent> events) {
  return pass("publish", [&] { return inner_.publish(events); });
}

Result<std::vector<store::ClaimedEvent>> FaultyStore::claim(const store::ClaimRequest& request) {
  return pass("claim", [&] { return inner_.claim(request); });
}

Result<store::SettleReport> FaultyStore::settle(std::span<const store::SettleItem> items,
                                                std::optional<store::RegistryVersion> based_on) {
  return pass("settle", [&] { return inner_.settle(items, based_on); });
}

Result<std::unique_ptr<store::EffectTransaction>> FaultyStore::begin_effect(Duration longest_idle) {
  return pass("begin_effect", [&] { return inner_.begin_effect(longest_idle); });
}

Result<std::vector<Uuid>> FaultyStore::heartbeat(std::span<const store::ClaimRef> claims, Duration ttl) {
  return pass("heartbeat", [&] { return inner_.heartbeat(claims, ttl); });
}

Result<std::vector<store::HandledKey>> FaultyStore::already_handled(std::span<const store::HandledKey> keys) {
  return pass("already_handled", [&] { return inner_.already_handled(keys); });
}

Result<std::optional<Timestamp>> FaultyStore::next_due(Generation generation,
                                                       const std::vector<std::string>& handlers) {
  return pass("next_due", [&] { return inner_.next_due(generation, handlers); });
}

Result<std::string> FaultyStore::token_secret() {
  return pass("token_secret", [&] { return inner_.token_secret(); });
}

Result<std::vector<store::ExpiredClaim>> FaultyStore::expired_claims(int limit) {
  return pass("expired_claims", [&] { return inner_.expired_claims(limit); });
}

Result<std::vector<store::ExpiredClaim>> FaultyStore::claims_held_by(const std::string& identity, int limit) {
  return pass("claims_held_by", [&] { return inner_.claims_held_by(identity, limit); });
}

Result<bool> FaultyStore::generation_exists(Generation generation) {
  return pass("generation_exists", [&] { return inner_.generation_exists(generation); });
}

Result<store::RetentionReport> FaultyStore::sweep_retention(const RetentionPolicies& policies, int limit, bool dry_run,
                                                            const store::Actor& actor) {
  return pass("sweep_retention", [&] { return inner_.sweep_retention(policies, limit, dry_run, actor); });
}

Result<store::PruneReport> FaultyStore::prune(const RetentionPolicies& policies) {
  return pass("prune", [&] { return inner_.prune(policies); });
}

Result<std::optional<store::PartitionChange>> FaultyStore::keep_partitions(const RetentionPolicies& policies,
                                                                           bool dry_run, const store::Actor& actor) {
  return pass("keep_partitions", [&] { return inner_.keep_partitions(policies, dry_run, actor); });
}

Result<store::PartitionLayout> FaultyStore::partition_layout() {
  return pass("partition_layout", [&] { return inner_.partition_layout(); });
}

Result<std::vector<std::string>> FaultyStore::partition_obstacles() {
  return pass("partition_obstacles", [&] { return inner_.partition_obstacles(); });
}

Result<std::vector<std::string>> FaultyStore::partition_sql(const store::PartitionRequest& request) {
  return pass("partition_sql", [&] { return inner_.partition_sql(request); });
}

Result<void> FaultyStore::take_partition_step(const store::PartitionRequest& request, const store::Actor& actor) {
  return pass("take_partition_step", [&] { return inner_.take_partition_step(request, actor); });
}

Result<void> FaultyStore::abandon_partition(const store::Actor& actor) {
  return pass("abandon_partition", [&] { return inner_.abandon_partition(actor); });
}

Result<void> FaultyStore::record_ladder(const LadderSample& sample) {
  return pass("record_ladder", [&] { return inner_.record_ladder(sample); });
}

Result<std::vector<LadderSample>> FaultyStore::ladder_history() {
  return pass("ladder_history", [&] { return inner_.ladder_history(); });
}

Result<store::PatrolStep> FaultyStore::patrol(const store::PatrolRequest& request) {
  return pass("patrol", [&] { return inner_.patrol(request); });
}

Result<Timestamp> FaultyStore::now() {
  return pass("now", [&] { return inner_.now(); });
}

Result<store::EventPage> FaultyStore::list_events(const store::EventFilter& filter, int limit,
                                                  std::optional<std::int64_t> before_seq) {
  return pass("list_events", [&] { return inner_.list_events(filter, limit, before_seq); });
}

Result<store::EventRecord> FaultyStore::get_event(const Uuid& id) {
  return pass("get_event", [&] { return inner_.get_event(id); });
}

Result<std::vector<store::HandledRecord>> FaultyStore::handled(std::span<const std::string> idempotency_keys) {
  return pass("handled", [&] { return inner_.handled(idempotency_keys); });
}

Result<std::vector<store::AuditRecord>> FaultyStore::audit_of(const Uuid& event_id) {
  return pass("audit_of", [&] { return inner_.audit_of(event_id); });
}

Result<std::optional<Uuid>> FaultyStore::key_blocker(const store::EventRecord& event) {
  return pass("key_blocker", [&] { return inner_.key_blocker(event); });
}

Result<store::StoreStatus> FaultyStore::status() {
  return pass("status", [&] { return inner_.status(); });
}

Result<store::ReplayReport> FaultyStore::replay(const Uuid& id, Generation new_generation, const store::Actor& actor) {
  return pass("replay", [&] { return inner_.replay(id, new_generation, actor); });
}

Result<void> FaultyStore::discard(const Uuid& id, const store::Actor& actor) {
  return pass("discard", [&] { return inner_.discard(id, actor); });
}

Result<void> FaultyStore::restore(const Uuid& id, const store::Actor& actor) {
  return pass("restore", [&] { return inner_.restore(id, actor); });
}

Result<std::vector<store::Deployment>> FaultyStore::deployments() {
  return pass("deployments", [&] { return inner_.deployments(); });
}

Result<store::Deployment> FaultyStore::allocate_generation(std::optional<Generation> wanted, const std::string& note,
                                                           const store::Actor& actor) {
  return pass("allocate_generation", [&] { return inner_.allocate_generation(wanted, note, actor); });
}

Result<store::Deployment> FaultyStore::move_generation(Generation generation, GenerationState to,
                                                       const store::Actor& actor) {
  return pass("move_generation", [&] { return inner_.move_generation(generation, to, actor); });
}

Result<std::vector<store::OpenPublisher>> FaultyStore::open_publishers(Generation generation) {
  return pass("open_publishers", [&] { return inner_.open_publishers(generation); });
}

Result<std::int64_t> FaultyStore::reroute(Generation from, Generation to, int limit, const store::Actor& actor) {
  return pass("reroute", [&] { return inner_.reroute(from, to, limit, actor); });
}

Result<Generation> FaultyStore::default_generation() {
  return pass("default_generation", [&] { return inner_.default_generation(); });
}

Result<store::DeadPage> FaultyStore::list_dead(const store::EventFilter& filter, int limit,
                                               const std::optional<store::DeadCursor>& after) {
  return pass("list_dead", [&] { return inner_.list_dead(filter, limit, after); });
}

Result<std::int64_t> FaultyStore::count_dead(const store::EventFilter& filter, std::int64_t limit) {
  return pass("count_dead", [&] { return inner_.count_dead(filter, limit); });
}

Result<std::int64_t> FaultyStore::count_unacknowledged(std::int64_t limit) {
  return pass("count_unacknowledged", [&] { return inner_.count_unacknowledged(limit); });
}

Result<std::vector<std::string>> FaultyStore::fingerprints(const std::string& prefix, int limit) {
  return pass("fingerprints", [&] { return inner_.fingerprints(prefix, limit); });
}

Result<std::vector<store::FailureGroup>> FaultyStore::failure_groups(const store::EventFilter& filter) {
  return pass("failure_groups", [&] { return inner_.failure_groups(filter); });
}

Result<std::int64_t> FaultyStore::acknowledge(const std::string& fingerprint, bool known, const store::Actor& actor) {
  return pass("acknowledge", [&] { return inner_.acknowledge(fingerprint, known, actor); });
}

Result<store::OperationRecord> FaultyStore::plan_operation(const store::PlanRequest& request) {
  return pass("plan_operation", [&] { return inner_.plan_operation(request); });
}

Result<store::OperationRecord> FaultyStore::operation(const Uuid& id) {
  return pass("operation", [&] { return inner_.operation(id); });
}

Result<std::vector<store::OperationRecord>> FaultyStore::operations(int limit) {
  return pass("operations", [&] { return inner_.operations(limit); });
}

Result<std::vector<store::OperationItem>> FaultyStore::operation_items(const Uuid& id, int limit, std::int64_t after) {
  return pass("operation_items", [&] { return inner_.operation_items(id, limit, after); });
}

Result<store::OperationRecord> FaultyStore::start_operation(const Uuid& id, std::int64_t confirmed,
                                                            const OperationSettings& settings,
                                                            const store::Actor& actor) {
  return pass("start_operation", [&] { return inner_.start_operation(id, confirmed, settings, actor); });
}

Result<store::OperationRecord> FaultyStore::change_operation(const Uuid& id, const store::OperationChange& change,
                                                             const store::Actor& actor) {
  return pass("change_operation", [&] { return inner_.change_operation(id, change, actor); });
}

Result<std::vector<Uuid>> FaultyStore::runnable_operations(const std::string& executor) {
  return pass("runnable_operations", [&] { return inner_.runnable_operations(executor); });
}

Result<store::OperationRecord> FaultyStore::hold_operation(const Uuid& id, const std::string& executor,
                                                           Duration lease) {
  return pass("hold_operation", [&] { return inner_.hold_operation(id, executor, lease); });
}

Result<store::OperationRecord> FaultyStore::advance_operation(const Uuid& id, const std::string& executor, int limit,
                                                              Timestamp paced_at) {
  return pass("advance_operation", [&] { return inner_.advance_operation(id, executor, limit, paced_at); });
}

Result<store::OperationRecord> FaultyStore::end_operation(const Uuid& id, const std::string& executor,
                                                          OperationState to, const std::string& note) {
  return pass("end_operation", [&] { return inner_.end_operation(id, executor, to, note); });
}

Result<void> FaultyStore::release_operation(const Uuid& id, const std::string& executor) {
  return pass("release_operation", [&] { return inner_.release_operation(id, executor); });
}

Result<std::vector<store::AuditRecord>> FaultyStore::audit(const store::AuditFilter& filter, int limit,
                                                           std::optional<std::int64_t> before_id) {
  return pass("audit", [&] { return inner_.audit(filter, limit, before_id); });
}

Result<store::Diagnosis> FaultyStore::diagnose(store::DiagnosisDepth depth) {
  return pass("diagnose", [&] { return inner_.diagnose(depth); });
}

Result<store::StoreGauges> FaultyStore::gauges() {
  return pass("gauges", [&] { return inner_.gauges(); });
}

Result<store::DueBacklog> FaultyStore::due_backlog() {
  return pass("due_backlog", [&] { return inner_.due_backlog(); });
}

Result<std::vector<store::OverdueEvent>> FaultyStore::overdue(const store::OverdueQuery& query) {
  return pass("overdue", [&] { return inner_.overdue(query); });
}

Result<double> FaultyStore::notify_queue_usage() {
  return pass("notify_queue_usage", [&] { return inner_.notify_queue_usage(); });
}

Result<void> FaultyStore::subscribe(Generation generation, std::span<const Subscription> subscriptions,
                                    const std::string& declared_by) {
  return pass("subscribe", [&] { return inner_.subscribe(generation, subscriptions, declared_by); });
}

Result<void> FaultyStore::unsubscribe(Generation generation, const std::string& handler_name,
                                      const store::Actor& actor) {
  return pass("unsubscribe", [&] { return inner_.unsubscribe(generation, handler_name, actor); });
}

Result<store::Registry> FaultyStore::registry(Generation generation) {
  return pass("registry", [&] { return inner_.registry(generation); });
}

Result<std::vector<store::SubscriptionRecord>> FaultyStore::subscriptions() {
  return pass("subscriptions", [&] { return inner_.subscriptions(); });
}

Result<std::vector<store::UnsubscribedCount>> FaultyStore::unsubscribed() {
  return pass("unsubscribed", [&] { return inner_.unsubscribed(); });
}

Result<void> FaultyStore::announce(const store::WorkerRecord& worker) {
  return pass("announce", [&] { return inner_.announce(worker); });
}

Result<void> FaultyStore::depart(const std::string& identity) {
  return pass("depart", [&] { return inner_.depart(identity); });
}

Result<std::vector<store::WorkerRecord>> FaultyStore::workers(Duration within) {
  return pass("workers", [&] { return inner_.workers(within); });
}

Result<void> FaultyStore::declare_sinks(std::span<const store::SinkDeclaration> sinks) {
  return pass("declare_sinks", [&] { return inner_.declare_sinks(sinks); });
}

Result<store::SinkRecords> FaultyStore::sinks() {
  return pass("sinks", [&] { return inner_.sinks(); });
}

Result<store::SinkRecord> FaultyStore::switch_sink(const std::string& name, SinkSwitch to, const store::Actor& actor) {
  return pass("switch_sink", [&] { return inner_.switch_sink(name, to, actor); });
}

Result<std::vector<store::Reported>> FaultyStore::report(std::span<const store::ConsumerReport> reports) {
  return pass("report", [&] { return inner_.report(reports); });
}

Result<std::vector<store::RelayedEvent>> FaultyStore::relayed(std::span<const Uuid> ids) {
  return pass("relayed", [&] { return inner_.relayed(ids); });
}

Result<store::RelaySwitch> FaultyStore::relay() {
  return pass("relay", [&] { return inner_.relay(); });
}

Result<store::RelaySwitch> FaultyStore::switch_relay(store::RelayState to, const std::string& broker,
                                                     const store::Actor& actor) {
  return pass("switch_relay", [&] { return inner_.switch_relay(to, broker, actor); });
}

Result<store::SinkRecord> FaultyStore::move_circuit(const std::string& name, std::optional<Duration> open_for,
                                                    const store::Actor& actor) {
  return pass("move_circuit", [&] { return inner_.move_circuit(name, open_for, actor); });
}

Result<std::unique_ptr<store::ListenerConnection>> FaultyStore::listen(const std::vector<std::string>& channels) {
  return pass("listen", [&] { return inner_.listen(channels); });
}

Result<store::DoorbellMode> FaultyStore::doorbell() {
  return pass("doorbell", [&] { return inner_.doorbell(); });
}

Result<void> FaultyStore::set_doorbell(store::DoorbellMode mode, const store::Actor& actor) {
  return pass("set_doorbell", [&] { return inner_.set_doorbell(mode, actor); });
}

Result<store::SchemaVersion> FaultyStore::schema_version() {
  return pass("schema_version", [&] { return inner_.schema_version(); });
}

Result<std::vector<store::MigrationStep>> FaultyStore::migrate() {
  return pass("migrate", [&] { return inner_.migrate(); });
}

Result<std::vector<std::string>> FaultyStore::validate() {
  return pass("validate", [&] { return inner_.validate(); });
}

std::vector<store::MigrationText> FaultyStore::migrations() const { return inner_.migrations(); }

Result<std::vector<std::string>> FaultyStore::grant(std::optional<store::Grant> role, const std::string& member) {
  return pass("grant", [&] { return inner_.grant(role, member); });
}

store::Capabilities FaultyStore::capabilities() const { return inner_.capabilities(); }

std::string FaultyStore::display_name() const { return inner_.display_name(); }

}  // namespace sluice::test
