// The contracts of a build: texts of schema files in, findings and texts out. Files are the caller's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/payload.hpp>
#include "core/contract.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

struct ContractEntry {
  Contract contract;
  std::string text;  ///< the file as it was written
};

/// At most one contract per event type and version.
class ContractSet {
 public:
  /// Each file must be named after its contract: `<event type>.v<version>.json`.
  static Result<ContractSet> read(const std::vector<ContractFile>& files);

  /// By event type, then version.
  [[nodiscard]] const std::vector<ContractEntry>& entries() const { return entries_; }
  [[nodiscard]] const ContractEntry* find(std::string_view event_type, int event_version) const;
  [[nodiscard]] const ContractEntry* newest(std::string_view event_type) const;
  /// What this build would read the event with: the contract of its version, else the newest; null: none.
  [[nodiscard]] const ContractEntry* applied_to(const EventEnvelope& envelope) const;

 private:
  [[nodiscard]] const ContractEntry* newest_up_to(std::string_view event_type, int event_version) const;
  std::vector<ContractEntry> entries_;
};

struct ContractCheck {
  std::vector<ContractFinding> findings;
  std::vector<ContractFile> to_write;  ///< what would bring the snapshots up to date
  std::size_t unchanged = 0;
};

/// What a build's contracts change against the snapshots that were kept. The newest version of a type
/// is compared with its newest snapshot; older ones with their own. A type without a snapshot is
/// outdated, a snapshot without its type breaking.
ContractCheck check_contracts(const ContractSet& current, const ContractSet& snapshots);

/// Each consumer contract against the newest one that a producer has for the type.
std::vector<ContractFinding> cross_check_contracts(const ContractSet& producers, const ContractSet& consumers);

std::string to_json(const ContractFinding& finding);
/// `{"findings":[…],"breaking":N,"outdated":N}`
std::string to_json(const std::vector<ContractFinding>& findings);

// The events of a build as an AsyncAPI 3.0 document, for catalogues and generators.

struct CatalogueInfo {
  std::string title = "Events";
  std::string version = "1.0.0";  ///< of the catalogue
};

/// A channel per event type, a message per version, each schema as it was written.
std::string asyncapi(const ContractSet& contracts, const CatalogueInfo& info);

// Whether a build can read what waits in the store right now.

struct LiveRequest {
  std::optional<Generation> generation;  ///< none: all of them
  std::size_t offenders = 20;            ///< how many are listed; all are counted
};

struct LiveOffender {
  Uuid event_id;
  std::string event_type;
  int event_version = 1;
  Status status = Status::pending;
  int schema_version = 1;  ///< of the contract that was applied
  std::string path;
  std::string message;
};

struct LiveReport {
  std::int64_t readable = 0;
  std::int64_t unreadable = 0;
  std::map<std::string, std::int64_t> without_schema;  ///< events by type
  std::vector<LiveOffender> offenders;                 ///< newest first: pending, then failed

  [[nodiscard]] std::int64_t events_without_schema() const;
  [[nodiscard]] std::int64_t events() const { return readable + unreadable + events_without_schema(); }
};

/// Reads the pending and the failed events page by page and checks each payload with the contract of
/// its type and version; where the build has no such version, with its newest one, as the build would.
/// Changes nothing. Discarded events are left out.
Result<LiveReport> verify_live(store::Administering& store, const ContractSet& contracts, const LiveRequest& request);

std::string to_json(const LiveOffender& offender);
std::string to_json(const LiveReport& report);

}  // namespace sluice::ops
