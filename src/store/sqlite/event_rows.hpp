// Rows of the outbox and of its neighbours as values of the seam.
#pragma once

#include "store/sqlite/connection.hpp"
#include "store/store.hpp"

namespace sluice::store::sqlite {

/// The columns of get_event, list_events, list_failed_events and list_dead.
EventRecord read_event(Row& row);
/// The columns of claim_fresh and claim_due after `due`, before the claim at `now`: `claim_seq` is the one it will have
/// after it.
ClaimedEvent read_candidate(Row& row, Generation generation, Timestamp now);
AuditRecord read_audit(Row& row);
Deployment read_deployment(Row& row);
Status read_status(Row& row);
std::vector<HandlerProgress> read_progress(Row& row);

}  // namespace sluice::store::sqlite
