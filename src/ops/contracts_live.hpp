// Whether a build can read what waits in the store right now.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ops/contracts.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

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
