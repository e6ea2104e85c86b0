#include "tests/support/faulty_store.hpp"

namespace sluice::test {

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

Result<void> FaultyStore::record_history(std::span<const HistoryRow> rows) {
  return pass("record_history", [&] { return inner_.record_history(rows); });
}

Result<std::vector<HistoryRow>> FaultyStore::history(const store::HistoryQuery& query) {
  return pass("history", [&] { return inner_.history(query); });
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
                                                  std::optional<std::int64_t> after) {
  return pass("list_events", [&] { return inner_.list_events(filter, limit, after); });
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

Result<std::vector<store::AttemptRecord>> FaultyStore::attempts_of(const Uuid& event_id) {
  return pass("attempts_of", [&] { return inner_.attempts_of(event_id); });
}

Result<std::optional<Uuid>> FaultyStore::key_blocker(const store::EventRecord& event) {
  return pass("key_blocker", [&] { return inner_.key_blocker(event); });
}

Result<store::StoreStatus> FaultyStore::status() {
  return pass("status", [&] { return inner_.status(); });
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

FaultyAdministering::FaultyAdministering(EmbeddedStore& inner) : store_(std::make_unique<FaultyStore>(inner.whole())) {}

FaultyAdministering::~FaultyAdministering() = default;

void FaultyAdministering::fail_call(int n, Fault fault, int count) { store_->fail_call(n, fault, count); }

void FaultyAdministering::fail_verb(const std::string& verb, Error error) { store_->fail_verb(verb, std::move(error)); }

int FaultyAdministering::calls() const { return store_->calls(); }

FaultyAdministering::operator store::Administering&() { return *store_; }

}  // namespace sluice::test
