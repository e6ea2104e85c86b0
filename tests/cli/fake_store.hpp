// A store in memory, for tests of the use cases and the command line: no more behaviour than they
// look at. Any verb can be told to fail.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace sluice::test {

/// The state that outlives one opening of the store.
struct FakeData {
  Timestamp now = Timestamp{std::chrono::seconds{1'780'000'000}};
  std::vector<store::EventRecord> events;  ///< oldest first
  std::vector<store::HandledRecord> handled;
  std::vector<store::AuditRecord> audit;
  std::vector<store::Deployment> deployments;
  store::SchemaVersion schema{2, 2};
  std::vector<std::string> findings;
  store::Capabilities capabilities;
  std::map<std::string, Error> failures;  ///< by verb: `publish`, `get_event`, …
  std::vector<store::Actor> actors;       ///< who asked, in order
  std::vector<std::string> granted;       ///< `publisher app`

  /// Becomes the event's status at the n-th get_event from now.
  std::vector<Status> next_statuses;
};

class FakeStore final : public store::Store {
 public:
  explicit FakeStore(FakeData& data) : data_(data) {}

  Result<std::vector<store::PublishOutcome>> publish(std::span<const store::NewEvent> events) override;

  Result<std::vector<store::ClaimedEvent>> claim(const store::ClaimRequest& request) override;
  Result<store::SettleReport> settle(std::span<const store::SettleItem> items) override;
  Result<std::vector<Uuid>> heartbeat(std::span<const store::ClaimRef> claims, Duration ttl) override;
  Result<std::vector<store::HandledKey>> already_handled(std::span<const store::HandledKey> keys) override;
  Result<std::optional<Timestamp>> next_due(Generation generation) override;
  Result<std::vector<store::ExpiredClaim>> expired_claims(int limit) override;
  Result<store::RetentionReport> sweep_retention(const RetentionPolicies& policies, int limit, bool dry_run) override;

  Result<Timestamp> now() override { return data_.now; }
  Result<store::EventPage> list_events(const store::EventFilter& filter, int limit,
                                       std::optional<std::int64_t> before_seq) override;
  Result<store::EventRecord> get_event(const Uuid& id) override;
  Result<std::vector<store::HandledRecord>> handled(const store::EventRecord& event) override;
  Result<std::vector<store::AuditRecord>> audit_of(const Uuid& event_id) override;
  Result<store::StoreStatus> status() override;
  Result<store::ReplayReport> replay(const Uuid& id, Generation new_generation, const store::Actor& actor) override;
  Result<void> discard(const Uuid& id, const store::Actor& actor) override;
  Result<void> restore(const Uuid& id, const store::Actor& actor) override;
  Result<std::vector<store::Deployment>> deployments() override { return data_.deployments; }
  Result<store::Deployment> allocate_generation(std::optional<Generation> wanted, const std::string& note,
                                                const store::Actor& actor) override;
  Result<store::Deployment> move_generation(Generation generation, GenerationState to,
                                            const store::Actor& actor) override;
  Result<Generation> default_generation() override;

  Result<store::SchemaVersion> schema_version() override { return data_.schema; }
  Result<std::vector<store::MigrationStep>> migrate() override;
  Result<std::vector<std::string>> validate() override { return data_.findings; }
  [[nodiscard]] std::vector<store::MigrationText> migrations() const override { return texts(); }
  Result<std::vector<std::string>> grant(std::optional<store::Grant> grant, const std::string& member) override;

  [[nodiscard]] store::Capabilities capabilities() const override { return data_.capabilities; }
  [[nodiscard]] std::string display_name() const override { return "fake:store"; }

  static std::vector<store::MigrationText> texts();

 private:
  [[nodiscard]] const Error* failure(const std::string& verb) const;
  FakeData& data_;
};

/// A whole row around the envelope, pending.
store::EventRecord a_record(const Uuid& id, const std::string& event_type = "demo.hello");
Uuid id_of(int number);

}  // namespace sluice::test
