"""Guards of what an operator does to one event; see table.py."""
from mutant import ACTIONS, SEND_AGAIN, SQLITE, SQLITE_ACTIONS, contract, interleaved


OPERATOR_ACTIONS = [
    contract("cancel-in-flight", "What a worker has is not cancelled", "ChangeContract.OnlyAPendingEventIsScheduledOrCancelled",
             ((ACTIONS, "    elsif p_status = 'in_flight' then\n", "    elsif false then\n"),)),
    contract("cancel-in-flight-sqlite", "The same on SQLite", "ChangeContract.OnlyAPendingEventIsScheduledOrCancelled",
             (("src/store/sqlite/sqlite_change.cpp", "  if (event.status == Status::in_flight) {", "  if (false) {"),), "sqlite"),
    contract("cancel-by-function", "Plain SQL does not cancel", "ChangeContract.PlainSqlCannotCancel",
             ((ACTIONS, "(p_status = 'pending' and not p_audited)", "false"),)),
    interleaved("cancel-unblock", "A cancelled event lets the next of its key go on", "Cancel",
                (ACTIONS, "        perform core.outbox_unblock(old.ordering_key, null);\n", "        perform length(old.ordering_key);\n")),
    contract("cancel-unblock-sqlite", "The same on SQLite", "ChangeContract.ACancelledEventLetsItsKeyGoOn",
             ((SQLITE_ACTIONS, "after update of status, key_subscribed, deleted_at on outbox", "after update of status, key_subscribed on outbox"),), "sqlite"),
    contract("cancel-claim-sqlite", "A cancelled event is not claimed", "ChangeContract.ACancelledEventIsNeverClaimed",
             ((SQLITE + "claim_fresh.sql", "status = 'pending' and deleted_at is null", "status = 'pending'"),), "sqlite"),
    contract("cancel-due", "A restored event is due when it was", "ChangeContract.ARestoredEventIsDueAsBefore",
             ((ACTIONS, "greatest(coalesce(v_due, v_event.retry_after, now()), now())", "now()"),)),
    contract("cancel-swept", "Retention removes what was cancelled", "ChangeContract.RetentionRemovesACancelledEvent",
             ((ACTIONS, "o.status in ('delivered', 'failed', 'pending')", "o.status in ('delivered', 'failed')"),)),
    contract("run-now-key", "Nobody overtakes an event of its key", "ChangeContract.ACancelledEventLetsItsKeyGoOn",
             ((ACTIONS, "        if v_blocker is not null then\n", "        if false then\n"),)),
    contract("resend-edge", "A delivered event returns to pending only where it is recorded", "SendToContract.PlainSqlCannotSendAgain",
             ((ACTIONS, "elsif p_old <> 'in_flight' and (p_deleted or not p_recorded) then", "elsif p_old = 'failed' and (p_deleted or not p_recorded) then"),)),
    contract("resend-subscriber", "Only a handler that subscribes gets it", "SendToContract.OnlyToAHandlerThatSubscribes",
             ((SEND_AGAIN, "    if p_handler is null or p_handler <> all (v_all) then\n", "    if false then\n"),)),
    contract("resend-relay", "Not while a broker carries the deliveries", "SendToContract.NotWhileABrokerCarriesTheDeliveries",
             ((SEND_AGAIN, "    elsif (select s.value <> 'off' from core.settings s where s.key = 'relay') then\n", "    elsif false then\n"),)),
    contract("resend-aside", "Who is not meant is set aside", "SendToContract.WhoHasNotHandledItIsSetAside",
             ((SEND_AGAIN, "|| coalesce(v_others, '[]')", "|| '[]'::jsonb"),)),
    contract("edit-history", "An edited event's history is bounded", "EditContract.TheHistoryStaysBounded",
             ((SEND_AGAIN, "octet_length(o.failure_history::text) > p_most", "false"),)),
]
