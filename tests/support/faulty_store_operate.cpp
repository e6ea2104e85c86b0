// What an operator does, through a store that fails.
#include "tests/support/faulty_store.hpp"

namespace sluice::test {

Result<store::ReplayReport> FaultyStore::replay(const Uuid& id, Generation new_generation, const store::Actor& actor) {
  return pass("replay", [&] { return inner_.replay(id, new_generation, actor); });
}

Result<std::vector<Uuid>> FaultyStore::ids_from(const std::string& digits, int limit) {
  return pass("ids_from", [&] { return inner_.ids_from(digits, limit); });
}

Result<store::ReplayReport> FaultyStore::send_to(const store::HandlerReplay& request, const store::Actor& actor) {
  return pass("send_to", [&] { return inner_.send_to(request, actor); });
}

Result<store::ReplayReport> FaultyStore::replay_edited(const store::EditedReplay& request, const store::Actor& actor) {
  return pass("replay_edited", [&] { return inner_.replay_edited(request, actor); });
}

Result<void> FaultyStore::schedule(const Uuid& id, std::optional<Timestamp> due, const store::Actor& actor) {
  return pass("schedule", [&] { return inner_.schedule(id, due, actor); });
}

Result<void> FaultyStore::cancel(const Uuid& id, const store::Actor& actor) {
  return pass("cancel", [&] { return inner_.cancel(id, actor); });
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

Result<bool> FaultyStore::has_index(store::SearchIndex index) {
  return pass("has_index", [&] { return inner_.has_index(index); });
}

Result<std::vector<std::string>> FaultyStore::index_sql(const store::IndexRequest& request) {
  return pass("index_sql", [&] { return inner_.index_sql(request); });
}

Result<bool> FaultyStore::take_index_step(const store::IndexRequest& request, const store::Actor& actor) {
  return pass("take_index_step", [&] { return inner_.take_index_step(request, actor); });
}

Result<std::vector<store::SavedFilter>> FaultyStore::saved_filters() {
  return pass("saved_filters", [&] { return inner_.saved_filters(); });
}

Result<store::SavedFilter> FaultyStore::save_filter(const std::string& name, const std::string& filter,
                                                    const store::Actor& actor) {
  return pass("save_filter", [&] { return inner_.save_filter(name, filter, actor); });
}

Result<void> FaultyStore::remove_filter(const std::string& name, const store::Actor& actor) {
  return pass("remove_filter", [&] { return inner_.remove_filter(name, actor); });
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

Result<std::int64_t> FaultyStore::count_dead_ahead(const Uuid& operation_id, const store::EventFilter& filter,
                                                   std::int64_t limit) {
  return pass("count_dead_ahead", [&] { return inner_.count_dead_ahead(operation_id, filter, limit); });
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

Result<std::vector<std::int64_t>> FaultyStore::failure_histogram(const store::EventFilter& filter,
                                                                 const store::HistogramGrid& grid) {
  return pass("failure_histogram", [&] { return inner_.failure_histogram(filter, grid); });
}

Result<std::vector<store::AuditRecord>> FaultyStore::audit_of_group(const std::string& fingerprint, int limit) {
  return pass("audit_of_group", [&] { return inner_.audit_of_group(fingerprint, limit); });
}

Result<std::int64_t> FaultyStore::note(const std::string& fingerprint, const store::Actor& author) {
  return pass("note", [&] { return inner_.note(fingerprint, author); });
}

}  // namespace sluice::test
