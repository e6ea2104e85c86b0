// The store seam, administering: what people do, by whichever surface. They publish and observe as well, and may do
// at once what the services of a daemon do from time to time. Only claiming is for workers.
//
// Bulk changes of dead letters are locked in as a plan and carried out in bounded, atomic steps, so that a crash
// anywhere leaves each event changed once or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/generation.hpp"
#include "core/operation.hpp"
#include "core/sink_switch.hpp"
#include "store/maintain.hpp"
#include "store/move.hpp"
#include "store/observe.hpp"
#include "store/publish.hpp"

namespace sluice::store {

class Administering : public Publishing, public Observing, public Maintaining {
 public:
  /// failed → pending in place; conflict when the event is in any other state or discarded, or the generation is
  /// retired, as with the next two.
  virtual Result<ReplayReport> replay(const Uuid& id, Generation new_generation, const Actor& actor) = 0;
  /// failed or delivered → pending, for this handler alone: what it has recorded as handled is set aside, and the audit
  /// keeps it. The others do not run; those of a dead letter that have not handled it stay out of attempts. conflict
  /// when the event is in another state, or while a broker carries the deliveries; invalid (field `handler`) when the
  /// handler does not subscribe to it. Needs a reason.
  virtual Result<ReplayReport> send_to(const HandlerReplay& request, const Actor& actor) = 0;
  /// As replay, with another payload: the history keeps the one before. conflict when that would make the history too
  /// long. Needs a reason.
  virtual Result<ReplayReport> replay_edited(const EditedReplay& request, const Actor& actor) = 0;
  /// A pending event, and each handler of it that still waits, is due at `due`; none: at once. conflict in any other
  /// state, and at once where another event of its ordering key goes first. Needs a reason.
  virtual Result<void> schedule(const Uuid& id, std::optional<Timestamp> due, const Actor& actor) = 0;
  /// Tombstones a pending event: nobody claims it any more, and what waits for its ordering key goes on. conflict in
  /// any other state; needs a reason.
  virtual Result<void> cancel(const Uuid& id, const Actor& actor) = 0;
  /// Tombstones a failed event. Needs a reason.
  virtual Result<void> discard(const Uuid& id, const Actor& actor) = 0;
  /// Takes the tombstone off a discarded event, which is failed again, or off a cancelled one, which is pending again
  /// and due when it was, for the handlers that subscribe by now; of a retired generation in the newest live one, and
  /// conflict where none is live. Needs a reason.
  virtual Result<void> restore(const Uuid& id, const Actor& actor) = 0;
  /// Marks every group with this fingerprint as known, or as not known again; returns how many there are.
  /// not_found when nothing ever failed like that. Needs a reason.
  virtual Result<std::int64_t> acknowledge(const std::string& fingerprint, bool known, const Actor& actor) = 0;

  /// Adds a note, the author's reason, to every group with this fingerprint; returns how many there are. not_found when
  /// nothing ever failed like that.
  virtual Result<std::int64_t> note(const std::string& fingerprint, const Actor& author) = 0;

  /// Freezes the set, in insert order. An empty set is returned with a total of 0 and not kept. Nothing but
  /// the plan is written; plans that expired more than a day ago, and operations that ended more than
  /// sixty days ago, are forgotten on the way.
  virtual Result<OperationRecord> plan_operation(const PlanRequest& request) = 0;
  /// planned → running, with one audit record. Refused: conflict when it is not planned, has expired, or when
  /// an event of the set is no longer as it was; invalid (field `count`) when `confirmed` is not the total.
  virtual Result<OperationRecord> start_operation(const Uuid& id, std::int64_t confirmed,
                                                  const OperationSettings& settings, const Actor& actor) = 0;
  /// conflict when the state does not allow it. Audited.
  virtual Result<OperationRecord> change_operation(const Uuid& id, const OperationChange& change,
                                                   const Actor& actor) = 0;
  /// The operations that nobody else carries out and that run, or that were paused or ended while events were in
  /// flight: those are still to be counted. Oldest first.
  virtual Result<std::vector<Uuid>> runnable_operations(const std::string& executor) = 0;
  /// Takes or renews the right to carry it out, and looks what became of the events in flight. conflict
  /// while somebody else holds it. One that has ended is only counted.
  virtual Result<OperationRecord> hold_operation(const Uuid& id, const std::string& executor, Duration lease) = 0;
  /// Acts on the next `limit` events in one transaction; those that moved since the plan are passed over and
  /// counted. conflict unless it is running and `executor` holds it.
  virtual Result<OperationRecord> advance_operation(const Uuid& id, const std::string& executor, int limit,
                                                    Timestamp paced_at) = 0;
  /// running → stopped or finished. conflict unless it is running and `executor` holds it.
  virtual Result<OperationRecord> end_operation(const Uuid& id, const std::string& executor, OperationState to,
                                                const std::string& note) = 0;
  /// Lets somebody else carry it out at once.
  virtual Result<void> release_operation(const Uuid& id, const std::string& executor) = 0;

  virtual Result<Deployment> allocate_generation(std::optional<Generation> wanted, const std::string& note,
                                                 const Actor& actor) = 0;
  /// Refuses (conflict) to retire a generation that has open publishers.
  virtual Result<Deployment> move_generation(Generation generation, GenerationState to, const Actor& actor) = 0;
  /// Moves up to `limit` pending events from one generation to another, due when they were; returns how many.
  virtual Result<std::int64_t> reroute(Generation from, Generation to, int limit, const Actor& actor) = 0;
  /// Nobody waits for this handler any more. not_found when there is no such subscription.
  virtual Result<void> unsubscribe(Generation generation, const std::string& handler_name, const Actor& actor) = 0;

  /// Adds or replaces what is declared, by name; the state of one that is known stays.
  virtual Result<void> declare_sinks(std::span<const SinkDeclaration> sinks) = 0;
  /// Moves it to another state, audited; closes the circuit of one that becomes active. What changes nothing is
  /// answered, not audited. not_found when there is no such sink; needs a reason.
  virtual Result<SinkRecord> switch_sink(const std::string& name, SinkSwitch to, const Actor& actor) = 0;
  /// The circuit is open for this long from the store's now; none: closed. The first opening and the closing are
  /// audited. not_found when there is no such sink; the reason is what the receiver did.
  virtual Result<SinkRecord> move_circuit(const std::string& name, std::optional<Duration> open_for,
                                          const Actor& actor) = 0;
  /// Who carries the deliveries from now on; audited, and a new version of the registry. What changes nothing is
  /// answered, not audited. Needs a reason.
  virtual Result<RelaySwitch> switch_relay(RelayState to, const std::string& broker, const Actor& actor) = 0;
  /// Takes effect for publishes that begin after it; audited. Only where capabilities().listen.
  virtual Result<void> set_doorbell(DoorbellMode mode, const Actor& actor) = 0;

  /// What of the events' table cannot become partitioned, one sentence each. Only where capabilities().partitions, like
  /// the next ones.
  virtual Result<std::vector<std::string>> partition_obstacles() = 0;
  /// The statements that the step would run.
  virtual Result<std::vector<std::string>> partition_sql(const PartitionRequest& request) = 0;
  /// Takes the step, audited. An error of kind timeout: it waited for a moment in vain, and says for whom; nothing was
  /// changed, try again.
  virtual Result<void> take_partition_step(const PartitionRequest& request, const Actor& actor) = 0;
  /// Undoes the steps before the swap. conflict where there are partitions already.
  virtual Result<void> abandon_partition(const Actor& actor) = 0;

  /// The statements that are left to make the index, or to drop it, in order; none: nothing is left. Only where
  /// capabilities().search_indexes, like the next one.
  virtual Result<std::vector<std::string>> index_sql(const IndexRequest& request) = 0;
  /// Runs the first of them; false: nothing was left. Publishers and workers go on meanwhile. An error of kind timeout:
  /// it waited for a moment in vain, and says for whom; try again. conflict while another process is at it.
  virtual Result<bool> take_index_step(const IndexRequest& request, const Actor& actor) = 0;

  /// Keeps it under its name, replacing one that has it; audited.
  virtual Result<SavedFilter> save_filter(const std::string& name, const std::string& filter, const Actor& actor) = 0;
  /// Audited. not_found when there is none of that name.
  virtual Result<void> remove_filter(const std::string& name, const Actor& actor) = 0;

  /// Brings the schema up to date; safe when many run at once and after a kill. A schema that is
  /// newer than this build, or was made by other migrations, is refused.
  virtual Result<std::vector<MigrationStep>> migrate() = 0;
  /// Creates the `sluice_*` roles where they are missing and gives each exactly what it needs; with
  /// `member`, also makes that existing role a member of the one for `grant`. Repeatable. Returns
  /// one sentence per thing done. Only where capabilities().roles.
  virtual Result<std::vector<std::string>> grant(std::optional<Grant> grant, const std::string& member) = 0;

  /// Null: it cannot be moved from, or to. Lives as long as the store.
  virtual MoveSource* move_source() { return nullptr; }
  virtual MoveTarget* move_target() { return nullptr; }
};

}  // namespace sluice::store
