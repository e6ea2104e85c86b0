"""Guards of ends: what outlives an expiry, a crash, another process; see table.py."""
from mutant import OPERATIONS, PG, SETTLE, Mutant, contract, integration


ENDS = [
    contract("expiry-progress", "What is known of each handler outlives an expired claim",
             "ExpiryContract.WhatIsKnownOfEachHandlerOutlivesAnExpiry",
             (("src/core/decide.cpp", "if (!attempt.progress.empty()) return expire_several", "if (attempt.attempts < 0) return expire_several"),)),
    Mutant("expiry-elsewhere", "An expired claim counts no attempt of a handler that another process hosts", "runtime_test",
           "ReaperTest.AHandlerOfAnotherProcessLosesNoAttemptToAWorkerThatDied",
           (("src/core/decide.cpp", "if (const std::vector<HandlerProgress> each = apart(attempt); !each.empty()) {",
             "if (const std::vector<HandlerProgress> each = apart(attempt); each.size() > 1000) {"),)),
    Mutant("expiry-wanted", "A handler that does not want the event is not counted with those that do", "runtime_test",
           "ReaperTest.AnExpiryIsNotCountedAgainstAHandlerThatDoesNotWantTheEvent",
           (("src/runtime/reaper.cpp", "    if (subscription.matches(route)) wanted.push_back", "    wanted.push_back"),)),
    Mutant("expiry-maximum", "A handler that is out of attempts is not run again", "runtime_test",
           "WorkerAttempts.AHandlerThatIsOutOfAttemptsIsNotRunAgain",
           (("src/runtime/dispatcher.cpp", "    close_out_of_attempts(works[i], open);\n", "    if (open.empty()) close_out_of_attempts(works[i], open);\n"),)),
    integration("claims-elsewhere", "The last settle of a batch that another process claimed removes its claim",
                "PostgresClaim.WhatIsPulledThroughTwoStoresLeavesNothingBehind",
                (PG + "postgres_settle.cpp", "if (!batches.elsewhere.empty()) {", "if (batches.elsewhere.size() > 1000) {")),
    integration("claims-close", "A batch of which something is in flight keeps its claim", "PostgresClaim.PartsOfABatchThatIsStillInFlightKeepItsClaim",
                (SETTLE, "where c.batch = any (p_batches) and not exists (\n", "where c.batch = any (p_batches) or not exists (\n")),
    integration("prune-in-use", "The mark of a group that is in use is kept", "PostgresClaim.MarksOfGroupsThatAreGoneArePruned",
                (PG + "postgres_maintain.cpp", "if (group.used >= lately)", "if (group.used < lately)")),
    contract("operation-count", "Events in flight are counted after an operation has ended",
             "OperationStepContract.EventsInFlightAreCountedAfterAPauseACancelAndAStop",
             ((OPERATIONS, "    if v_operation.state = 'planned' then\n        return v_operation;\n    elsif v_live",
               "    if not v_live then\n        return v_operation;\n    elsif v_live"),)),
    Mutant("checkpoint-alone", "Nobody checkpoints while another process writes", "sqlite_store_test", "Checkpoints.NobodyCheckpointsWhileAnotherWrites",
           (("src/store/sqlite/database.cpp", "kCheckpointPages && checkpoint_lock_.try_alone())", "kCheckpointPages && (checkpoint_lock_.try_alone() || true))"),)),
]
