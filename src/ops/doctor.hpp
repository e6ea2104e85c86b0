// The doctor: looks at a store and everything around it, and names what is wrong, who causes it and what to do.
//
// It only looks. What it may not see is a finding of its own, not an error.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dead_letter_levels.hpp"
#include "ops/relay.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

enum class Severity {
  ok,        ///< was looked at, and is well
  info,      ///< worth knowing, nothing to do
  warning,   ///< will hurt, or costs latency now
  critical,  ///< hurts now
};
std::string_view name(Severity severity);

/// What can be found. The order is that of the docs and of findings that are equally severe.
enum class FindingId {
  store_unreachable,
  server_version,
  server_standby,
  schema_version,
  schema_damaged,
  outbox_sequence,
  grants_missing,
  sight_limited,
  clock_skew,
  outbox_locked,
  listener_deaf,
  worker_not_listening,
  doorbell_contention,
  notify_queue,
  xmin_pinned,
  dead_tuples,
  claims_expired,
  stranded_events,
  retention_lag,
  partition_missing,
  partition_default,
  partition_unfinished,
  ladder,
  generation_abandoned,
  sink_stopped,
  events_unsubscribed,
  subscription_unserved,
  events_overdue,
  dead_letters,
  broker_unsafe,
  worker_without_broker,
  sqlite_corrupt,
  sqlite_not_writable,
  sqlite_permissions,
  sqlite_wal,
  sqlite_disk,
};

/// The stable names, by FindingId.
inline constexpr std::array<std::string_view, 36> kFindingNames{"store-unreachable",
                                                                "server-version",
                                                                "server-standby",
                                                                "schema-version",
                                                                "schema-damaged",
                                                                "outbox-sequence",
                                                                "grants-missing",
                                                                "sight-limited",
                                                                "clock-skew",
                                                                "outbox-locked",
                                                                "listener-deaf",
                                                                "worker-not-listening",
                                                                "doorbell-contention",
                                                                "notify-queue",
                                                                "xmin-pinned",
                                                                "dead-tuples",
                                                                "claims-expired",
                                                                "stranded-events",
                                                                "retention-lag",
                                                                "partition-missing",
                                                                "partition-default",
                                                                "partition-unfinished",
                                                                "ladder",
                                                                "generation-abandoned",
                                                                "sink-stopped",
                                                                "events-unsubscribed",
                                                                "subscription-unserved",
                                                                "events-overdue",
                                                                "dead-letters",
                                                                "broker-unsafe",
                                                                "worker-without-broker",
                                                                "sqlite-corrupt",
                                                                "sqlite-not-writable",
                                                                "sqlite-permissions",
                                                                "sqlite-wal",
                                                                "sqlite-disk"};
constexpr std::string_view name(FindingId id) { return kFindingNames[static_cast<std::size_t>(id)]; }

/// As it is called where all is well: `store`, not `store-unreachable`.
constexpr std::string_view name_when_well(FindingId id) {
  switch (id) {
    case FindingId::store_unreachable:
      return "store";
    case FindingId::schema_damaged:
      return "schema";
    case FindingId::grants_missing:
      return "grants";
    case FindingId::outbox_locked:
      return "outbox-locks";
    case FindingId::listener_deaf:
      return "listener";
    case FindingId::worker_not_listening:
      return "workers";
    case FindingId::broker_unsafe:
      return "broker";
    case FindingId::worker_without_broker:
      return "consumers";
    case FindingId::sqlite_corrupt:
      return "sqlite-file";
    case FindingId::sqlite_not_writable:
      return "sqlite-writable";
    default:
      return name(id);
  }
}

struct Finding {
  FindingId id = FindingId::store_unreachable;
  Severity severity = Severity::ok;
  std::string title;   ///< one sentence that names the culprit
  std::string detail;  ///< more about it; may be empty
  std::string fix;     ///< what to do, with the command or the SQL; empty when all is well
};

struct DoctorReport {
  std::string store;
  std::vector<Finding> findings;  ///< the most severe first

  /// ok when there are no findings.
  [[nodiscard]] Severity worst() const;
};

struct DoctorOptions {
  RetentionPolicies retention;
  std::function<Timestamp()> clock;                 ///< of this machine
  Duration longest_echo = std::chrono::seconds{2};  ///< a listener that has not heard itself by then is deaf
  broker::Broker* broker = nullptr;                 ///< that is configured; none: it is not looked at
  DeadLetterLevels dead_letters{};
  RelaySettings relay{};  ///< as configured, like the broker
};

/// Looks at everything. A store that fails meanwhile is a finding too.
DoctorReport examine(store::Administering& store, const DoctorOptions& options);

/// The report on a store that could not be opened.
DoctorReport report_unreachable(const std::string& store, const Error& error);

std::string to_json(const Finding& finding);
std::string to_json(const DoctorReport& report);

}  // namespace sluice::ops
