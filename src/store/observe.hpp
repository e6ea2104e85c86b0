// The store seam, observing: everything that can be asked. Nothing here changes an event.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/generation.hpp"
#include "core/history.hpp"
#include "core/ladder.hpp"
#include "store/diagnosis.hpp"
#include "store/event_record.hpp"
#include "store/listener_connection.hpp"
#include "store/operation_record.hpp"
#include "store/partition.hpp"
#include "store/registry.hpp"
#include "store/schema.hpp"
#include "store/search.hpp"

namespace sluice::store {

/// What a store can do beyond the seam, so that nothing asks "which database is it?".
struct Capabilities {
  bool listen = false;  ///< LISTEN/NOTIFY wake-ups
  bool roles = false;   ///< database roles and grants
  bool partitions = false;
  bool search_indexes = false;  ///< indexes for payload values and trace ids can be made
  bool embedded = false;        ///< lives in this process, a file
};

struct HistoryQuery {
  bool hourly = false;  ///< else minutes
  Timestamp from{};
  Timestamp until{};  ///< before
  HistoryKind kind = HistoryKind::all;
  std::optional<std::string> name{};  ///< none: every series of the kind
};

class Observing {
 public:
  virtual ~Observing() = default;

  [[nodiscard]] virtual Capabilities capabilities() const = 0;
  /// For messages: the file path, or the DSN without its password.
  [[nodiscard]] virtual std::string display_name() const = 0;
  virtual Result<Timestamp> now() = 0;

  /// Newest first, or oldest first where the filter says so; from the one behind the number `after` on.
  virtual Result<EventPage> list_events(const EventFilter& filter, int limit, std::optional<std::int64_t> after) = 0;
  virtual Result<EventRecord> get_event(const Uuid& id) = 0;  ///< not_found when there is none
  /// Who has handled events with these idempotency keys: key by key, the earliest first.
  virtual Result<std::vector<HandledRecord>> handled(std::span<const std::string> idempotency_keys) = 0;
  Result<std::vector<HandledRecord>> handled(const EventRecord& event) {
    return handled(std::span{&event.envelope.idempotency_key(), 1});
  }
  virtual Result<std::vector<AuditRecord>> audit_of(const Uuid& event_id) = 0;
  /// The attempt log of an event: the first and the latest, by number. Empty where nothing failed.
  virtual Result<std::vector<AttemptRecord>> attempts_of(const Uuid& event_id) = 0;
  /// The event of its ordering key that goes first: an earlier one that is pending and that somebody subscribes to, or
  /// any that is in flight. None: nothing does, or the event has no key.
  virtual Result<std::optional<Uuid>> key_blocker(const EventRecord& event) = 0;
  /// Newest first, from the one before `before_id` on.
  virtual Result<std::vector<AuditRecord>> audit(const AuditFilter& filter, int limit,
                                                 std::optional<std::int64_t> before_id) = 0;

  /// The filter's `since` and `until` are times of failure here; its `status` and `include_deleted` are
  /// not looked at.
  virtual Result<DeadPage> list_dead(const EventFilter& filter, int limit, const std::optional<DeadCursor>& after) = 0;
  /// At most `limit`: a count that costs no more than that.
  virtual Result<std::int64_t> count_dead(const EventFilter& filter, std::int64_t limit) = 0;
  /// At most `limit` of the dead letters that nobody knows about: of groups that are not acknowledged, and what failed
  /// after its group was.
  virtual Result<std::int64_t> count_unacknowledged(std::int64_t limit) = 0;
  /// How many of the next `limit` events that this operation would take are dead letters that match. 0 where there is
  /// no such operation.
  virtual Result<std::int64_t> count_dead_ahead(const Uuid& operation_id, const EventFilter& filter,
                                                std::int64_t limit) = 0;
  /// The events whose ids begin with these hexadecimal digits (at most 32, no hyphens), in order; at most `limit`.
  virtual Result<std::vector<Uuid>> ids_from(const std::string& digits, int limit) = 0;
  /// The fingerprints of failures that begin so, each once, in order; at most `limit`.
  virtual Result<std::vector<std::string>> fingerprints(const std::string& prefix, int limit) = 0;
  /// The most numerous first.
  virtual Result<std::vector<FailureGroup>> failure_groups(const EventFilter& filter) = 0;

  /// How many of the dead letters that match failed in each stretch.
  virtual Result<std::vector<std::int64_t>> failure_histogram(const EventFilter& filter, const HistogramGrid& grid) = 0;
  /// Notes on the groups with this fingerprint, and who acknowledged them or took that back: newest first, at most
  /// `limit`.
  virtual Result<std::vector<AuditRecord>> audit_of_group(const std::string& fingerprint, int limit) = 0;

  /// Whether the index is there and complete; false where capabilities().search_indexes is.
  virtual Result<bool> has_index(SearchIndex index) = 0;
  /// By name.
  virtual Result<std::vector<SavedFilter>> saved_filters() = 0;

  virtual Result<OperationRecord> operation(const Uuid& id) = 0;  ///< not_found when there is none
  /// Newest first, planned ones that expired left out.
  virtual Result<std::vector<OperationRecord>> operations(int limit) = 0;
  /// By place, from the one behind `after` on.
  virtual Result<std::vector<OperationItem>> operation_items(const Uuid& id, int limit, std::int64_t after) = 0;

  virtual Result<std::vector<Deployment>> deployments() = 0;  ///< ascending
  /// Of a draining generation, the oldest first; what we may not see counts where it may be one.
  virtual Result<std::vector<OpenPublisher>> open_publishers(Generation generation) = 0;
  /// The newest live generation, else 1.
  virtual Result<Generation> default_generation() = 0;
  virtual Result<Registry> registry(Generation generation) = 0;
  /// The subscriptions of all generations, by generation and handler name.
  virtual Result<std::vector<SubscriptionRecord>> subscriptions() = 0;
  /// The most numerous ones first, at most a hundred kinds.
  virtual Result<std::vector<UnsubscribedCount>> unsubscribed() = 0;
  /// Those seen within `within`, by identity. Forgets those that have not been seen for a day.
  virtual Result<std::vector<WorkerRecord>> workers(Duration within) = 0;
  virtual Result<SinkRecords> sinks() = 0;
  virtual Result<RelaySwitch> relay() = 0;

  virtual Result<StoreStatus> status() = 0;
  /// Not one moment's state: parts of it are read one after the other. Where the database keeps no index of
  /// what is pending the store remembers how far it has looked: the first answers after its start may miss old
  /// events that nobody has claimed, and find them within the next ones.
  virtual Result<StoreGauges> gauges() = 0;
  virtual Result<DueBacklog> due_backlog() = 0;
  /// When the next waiting event of this generation falls due for one of these handlers (empty: for
  /// any), if any waits. A hint: it may be early, and events that were due for longer than a moment are
  /// left out, because a claim has looked at them.
  virtual Result<std::optional<Timestamp>> next_due(Generation generation,
                                                    const std::vector<std::string>& handlers) = 0;
  /// The longest due first. Bounded: of new events the store looks at those that it already knows to be pending or
  /// finds with a few looks (as gauges() does), of those that waited at the longest due.
  virtual Result<std::vector<OverdueEvent>> overdue(const OverdueQuery& query) = 0;
  /// Works with whatever schema there is, even none. Changes nothing.
  virtual Result<Diagnosis> diagnose(DiagnosisDepth depth) = 0;
  /// The samples of the last kLadderKept, oldest first.
  virtual Result<std::vector<LadderSample>> ladder_history() = 0;
  /// Rows of the history, oldest first.
  virtual Result<std::vector<HistoryRow>> history(const HistoryQuery& query) = 0;
  /// 0 to 1. Only where capabilities().listen.
  virtual Result<double> notify_queue_usage() = 0;

  /// Opens a listener connection on these channels.
  virtual Result<std::unique_ptr<ListenerConnection>> listen(const std::vector<std::string>& channels) = 0;
  virtual Result<DoorbellMode> doorbell() = 0;

  /// Not partitioned, and no partitions, where capabilities().partitions is false.
  virtual Result<PartitionLayout> partition_layout() = 0;

  virtual Result<SchemaVersion> schema_version() = 0;
  /// Compares the schema with what this build expects; each finding is one sentence.
  virtual Result<std::vector<std::string>> validate() = 0;
  /// The migrations as this build carries them, in order; needs no connection.
  [[nodiscard]] virtual std::vector<MigrationText> migrations() const = 0;
};

}  // namespace sluice::store
