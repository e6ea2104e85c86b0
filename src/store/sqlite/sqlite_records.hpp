// Rows of the outbox and of its neighbours as values of the seam, and the refusals that several roles share.
#pragma once

#include <string>
#include <string_view>

#include "store/operation_record.hpp"
#include "store/sqlite/connection.hpp"
#include "store/store.hpp"

namespace sluice::store::sqlite {

/// The columns of event_get, event_list, event_list_failed and dead_list.
EventRecord read_event(Row& row);
/// The columns of claim_fresh and claim_due after `due`, before the claim at `now`: `claim_seq` is the one it will have
/// after it.
ClaimedEvent read_candidate(Row& row, Generation generation, Timestamp now);
AuditRecord read_audit(Row& row);
AttemptRecord read_attempt(Row& row);
Deployment read_deployment(Row& row);
Status read_status(Row& row);
std::vector<HandlerProgress> read_progress(Row& row);

/// not_found when there is none.
Result<EventRecord> find_event(Connection& connection, const Uuid& id);

/// The columns of operation_get and operation_list.
OperationRecord read_operation(Row& row);

/// not_found when there is none.
Result<OperationRecord> find_operation(Connection& connection, const Uuid& id);

/// conflict: `operation <id> is finished: <rule>`.
Error wrong_state(const OperationRecord& operation, std::string_view rule);

/// conflict unless it is running and `executor` holds it; otherwise the operation.
Result<OperationRecord> held_operation(Connection& connection, const Uuid& id, const std::string& executor,
                                       Timestamp now);

Result<bool> is_retired(Connection& connection, Generation generation);
/// The newest live one, else the first.
Result<Generation> default_generation(Connection& connection);

/// Whether the events of its set have to be discarded ones.
bool takes_discarded(OperationKind kind);

}  // namespace sluice::store::sqlite
