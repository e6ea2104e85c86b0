#include "tests/cli/fake_store.hpp"

#include <algorithm>

namespace sluice::test {
namespace {

Error not_offered() { return {ErrorCode::internal, Retry::never, "the fake store does not offer this", "", ""}; }

store::EventRecord record_of(const store::NewEvent& event, std::int64_t seq, Timestamp now) {
  store::EventRecord record{.envelope = event.envelope};
  record.seq = seq;
  record.content_class = event.content_class;
  record.channel = event.channel;
  record.generation = event.generation;
  record.ordering_key = event.ordering_key;
  record.published_at = now;
  record.retry_after = event.delay ? std::optional{now + *event.delay} : event.not_before;
  return record;
}

}  // namespace

Uuid id_of(int number) {
  Uuid id = *Uuid::parse("0196b2f1-7c1e-7a3b-9d2e-000000000000");
  id.bytes[15] = static_cast<std::uint8_t>(number);
  return id;
}

store::EventRecord a_record(const Uuid& id, const std::string& event_type) {
  EnvelopeDraft draft;
  draft.event_id = id;
  draft.event_type = event_type;
  draft.occurred_at = Timestamp{std::chrono::seconds{1'780'000'000}};
  draft.source = "demo";
  draft.payload = R"({"n": 12345678901234567890123})";
  draft.idempotency_key = id.to_string();
  store::EventRecord record{.envelope = EventEnvelope::trusted(std::move(draft))};
  record.seq = id.bytes[15];
  record.content_class = "default";
  record.channel = "outbox_gen_1";
  record.generation = 1;
  record.published_at = record.envelope.occurred_at();
  return record;
}

const Error* FakeStore::failure(const std::string& verb) const {
  const auto found = data_.failures.find(verb);
  return found == data_.failures.end() ? nullptr : &found->second;
}

Result<std::vector<store::PublishOutcome>> FakeStore::publish(std::span<const store::NewEvent> events) {
  if (const Error* error = failure("publish")) return *error;
  std::vector<store::PublishOutcome> outcomes;
  for (const auto& event : events) {
    const bool known = std::any_of(data_.events.begin(), data_.events.end(), [&](const auto& record) {
      return record.envelope.event_id() == event.envelope.event_id();
    });
    outcomes.push_back(known ? store::PublishOutcome::duplicate : store::PublishOutcome::published);
    if (!known) data_.events.push_back(record_of(event, static_cast<std::int64_t>(data_.events.size()) + 1, data_.now));
  }
  return outcomes;
}

Result<std::vector<store::ClaimedEvent>> FakeStore::claim(const store::ClaimRequest&) { return not_offered(); }
Result<store::SettleReport> FakeStore::settle(std::span<const store::SettleItem>) { return not_offered(); }
Result<std::vector<Uuid>> FakeStore::heartbeat(std::span<const store::ClaimRef>, Duration) { return not_offered(); }
Result<std::vector<store::HandledKey>> FakeStore::already_handled(std::span<const store::HandledKey>) {
  return not_offered();
}
Result<std::optional<Timestamp>> FakeStore::next_due(Generation) { return not_offered(); }
Result<std::vector<store::ExpiredClaim>> FakeStore::expired_claims(int) { return not_offered(); }
Result<store::RetentionReport> FakeStore::sweep_retention(const RetentionPolicies&, int, bool) { return not_offered(); }
Result<store::ReplayReport> FakeStore::replay(const Uuid&, Generation, const store::Actor&) { return not_offered(); }
Result<void> FakeStore::discard(const Uuid&, const store::Actor&) { return not_offered(); }
Result<void> FakeStore::restore(const Uuid&, const store::Actor&) { return not_offered(); }

Result<store::EventPage> FakeStore::list_events(const store::EventFilter& filter, int limit,
                                                std::optional<std::int64_t> before_seq) {
  if (const Error* error = failure("list_events")) return *error;
  store::EventPage page;
  for (auto record = data_.events.rbegin(); record != data_.events.rend(); ++record) {
    if (before_seq && record->seq >= *before_seq) continue;
    if (filter.status && record->status != *filter.status) continue;
    if (filter.since && record->envelope.occurred_at() < *filter.since) continue;
    if (page.events.size() == static_cast<std::size_t>(limit)) {
      page.next_before = page.events.back().seq;
      break;
    }
    page.events.push_back(*record);
  }
  return page;
}

Result<store::EventRecord> FakeStore::get_event(const Uuid& id) {
  if (const Error* error = failure("get_event")) return *error;
  for (auto& record : data_.events) {
    if (record.envelope.event_id() != id) continue;
    if (!data_.next_statuses.empty()) {
      record.status = data_.next_statuses.front();
      data_.next_statuses.erase(data_.next_statuses.begin());
    }
    return record;
  }
  return Error{ErrorCode::not_found, Retry::never, "there is no event " + id.to_string(), "id", ""};
}

Result<std::vector<store::HandledRecord>> FakeStore::handled(const store::EventRecord&) {
  if (const Error* error = failure("handled")) return *error;
  return data_.handled;
}

Result<std::vector<store::AuditRecord>> FakeStore::audit_of(const Uuid&) {
  if (const Error* error = failure("audit_of")) return *error;
  return data_.audit;
}

Result<store::StoreStatus> FakeStore::status() {
  if (const Error* error = failure("status")) return *error;
  store::StoreStatus status{data_.now, {}, 0};
  for (const auto& record : data_.events) {
    status.counts.push_back({record.generation, record.status, 1, 0, record.envelope.occurred_at()});
  }
  return status;
}

Result<store::Deployment> FakeStore::allocate_generation(std::optional<Generation> wanted, const std::string& note,
                                                         const store::Actor& actor) {
  if (const Error* error = failure("allocate_generation")) return *error;
  data_.actors.push_back(actor);
  const Generation next = data_.deployments.empty() ? 1 : data_.deployments.back().generation + 1;
  data_.deployments.push_back({.generation = wanted.value_or(next),
                               .note = note,
                               .changed_by = actor.name,
                               .allocated_at = data_.now,
                               .activated_at = {},
                               .draining_at = {},
                               .retired_at = {}});
  return data_.deployments.back();
}

Result<store::Deployment> FakeStore::move_generation(Generation generation, GenerationState to,
                                                     const store::Actor& actor) {
  data_.actors.push_back(actor);
  for (auto& deployment : data_.deployments) {
    if (deployment.generation != generation) continue;
    deployment.state = to;
    deployment.activated_at = data_.now;
    return deployment;
  }
  return Error{ErrorCode::not_found, Retry::never, "there is no such generation", "generation", ""};
}

Result<Generation> FakeStore::default_generation() {
  Generation newest = kFirstGeneration;
  for (const auto& deployment : data_.deployments) {
    if (deployment.state == GenerationState::live) newest = deployment.generation;
  }
  return newest;
}

Result<std::vector<store::MigrationStep>> FakeStore::migrate() {
  if (const Error* error = failure("migrate")) return *error;
  std::vector<store::MigrationStep> steps;
  for (const auto& text : texts()) steps.push_back({text.version, text.name, text.version > data_.schema.applied});
  data_.schema.applied = data_.schema.known;
  return steps;
}

Result<std::vector<std::string>> FakeStore::grant(std::optional<store::Grant> grant, const std::string& member) {
  data_.granted.push_back((grant ? std::to_string(static_cast<int>(*grant)) : "-") + ' ' + member);
  return std::vector<std::string>{"created the roles"};
}

std::vector<store::MigrationText> FakeStore::texts() {
  return {{1, "0001_first", "create table first();"}, {2, "0002_second", "create table second();"}};
}

}  // namespace sluice::test
