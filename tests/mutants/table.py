"""The guards, each with a change that takes it out and the test that has to notice.

A text stands in its file exactly once.
`control` is a test of the same program that still passes: without it, SQL that cannot be read would look like a guard.
"""
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    name: str
    guard: str  # what is taken out
    program: str
    test: str
    edits: tuple  # (file, text, what stands there instead)
    control: str = ""
    outcome: str = "red"  # or crash, timeout: what the test has to do
    orders: str = ""  # how many orders an interleaving is tried in, where the suite's hundred are too few


CONTROLS = {
    "contract_test": "Stores/PayloadContract.NestedStructuresSurvive/postgres",
    "postgres_integration_test": "PostgresSqlSurface.PlainInsertRingsTheChannelWithTheRowId",
    "interleaving_test": "Interleaving.CrashOfAPublisher",
    "delivery_test": "Broadcast.ATargetedEventReachesItsContextOnly",
    "runtime_test": "WorkerTest.DeliversAndRecordsWhoHandled",
    "serve_sink_test": "HttpSinkTest.AnEventArrivesAsItsEnvelope",
    "http_test": "RouterTest.FindsByMethodAndPath",
    "ops_test": "Generations.ThePreviewOfAnAllocationIsTheNextNumber",
    "sqlite_store_test": "Checkpoints.WhoWritesKeepsTheLogShort",
    "unit_test": "Uuid.TextReadsBackInEitherCase",
}

RULES = "src/store/postgres/sql/migration/0002_rules.sql"
PUBLISH = "src/store/postgres/sql/migration/0003_publish.sql"
SUBSCRIPTIONS = "src/store/postgres/sql/migration/0004_subscriptions.sql"
ORDERING = "src/store/postgres/sql/migration/0005_keys.sql"
CLAIM = "src/store/postgres/sql/migration/0006_claim.sql"
SETTLE = "src/store/postgres/sql/migration/0007_settle.sql"
OPERATIONS = "src/store/postgres/sql/migration/0009_operations.sql"
GENERATIONS = "src/store/postgres/sql/migration/0010_generations.sql"
RETENTION = "src/store/postgres/sql/migration/0011_retention.sql"
PATROL = "src/store/postgres/sql/migration/0012_patrol.sql"
PG = "src/store/postgres/"
SQLITE = "src/store/sqlite/sql/query/"


def contract(name, guard, test, edits, store="postgres"):
    control = CONTROLS["contract_test"].replace("/postgres", "/" + store)
    return Mutant(name, guard, "contract_test", f"Stores/{test}/{store}", edits, control)


def integration(name, guard, test, *edits):
    return Mutant(name, guard, "postgres_integration_test", test, edits)


def interleaved(name, guard, test, *edits, control="CrashOfAPublisher", orders=""):
    return Mutant(name, guard, "interleaving_test", "Interleaving." + test, edits, "Interleaving." + control, orders=orders)


FENCES = [
    contract("fence-acknowledge", "An acknowledgement where the claim left the row asks for the token",
             "SettleContract.ATokenFromTheFutureIsFenced",
             ((SETTLE, "o.ctid = any (p_tids) and o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight';",
               "o.ctid = any (p_tids) and o.id = t.id and o.status = 'in_flight';"),)),
    contract("fence-acknowledge-keyed", "The same in a batch with ordering keys", "OrderingContract.ATokenFromTheFutureReleasesNoKey",
             ((SETTLE, "o.ctid = any (p_tids) and o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight'\n            returning",
               "o.ctid = any (p_tids) and o.id = t.id and o.status = 'in_flight'\n            returning"),)),
    contract("fence-acknowledge-by-id", "An acknowledgement of a row that has moved asks for the token",
             "SettleContract.OnlyTheTokenTellsAStaleClaimFromTheCurrentOne",
             ((SETTLE, "    where o.id = t.id and o.claim_seq = t.claim_seq and o.status = 'in_flight';\n    -- Delivered",
               "    where o.id = t.id and o.status = 'in_flight';\n    -- Delivered"),)),
    contract("fence-failure", "A failure asks for the token", "SettleContract.OnlyTheTokenTellsAStaleClaimFromTheCurrentOne",
             ((SETTLE, "o.claim_seq = t.claim_seq and o.status = 'in_flight'\n            returning o.id)",
               "o.status = 'in_flight'\n            returning o.id)"),)),
    contract("fence-heartbeat", "A heartbeat asks for the token", "ExpiryContract.AStaleHeartbeatWithOnlyIdAndTokenProlongsNothing",
             ((SETTLE, "where h.claim_seq = t.claim_seq and h.status", "where h.status"),)),
    contract("fence-effect", "An effect begins only under the current claim", "EffectContract.ALostClaimIsFencedAndRecordsNothing",
             ((SETTLE, "on o.id = t.id and o.claim_seq = t.claim_seq\n            where o.id = any (p_ids)",
               "on o.id = t.id\n            where o.id = any (p_ids)"),)),
    integration("batch-number", "A claim that a crash undid is known by its batch, though its token is given out again",
                "PostgresCrash.AForgottenClaimIsFencedThoughItsNumberIsGivenOutAgain",
                (SETTLE, "where b.batch <> all (array(", "where false and b.batch <> all (array(")),
    contract("registry-acknowledge", "An acknowledgement that rests on old subscriptions is refused",
             "RegistryContract.AcknowledgementsAloneBasedOnAnOldVersionChangeNothing",
             ((SETTLE, "        raise exception 'the subscriptions have changed' using errcode = 'SL410';\n    end if;\n    return query",
               "        null;\n    end if;\n    return query"),)),
    contract("sqlite-fence-delivered", "The same token on SQLite: acknowledgements",
             "SettleContract.OnlyTheTokenTellsAStaleClaimFromTheCurrentOne",
             ((SQLITE + "settle_delivered.sql", "and claim_seq = :claim_seq and", "and (claim_seq = :claim_seq or true) and"),), "sqlite"),
    contract("sqlite-fence-failure", "The same token on SQLite: failures",
             "SettleContract.OnlyTheTokenTellsAStaleClaimFromTheCurrentOne",
             ((SQLITE + "settle_failed.sql", "claim_seq = :claim_seq", "(claim_seq = :claim_seq or true)"),), "sqlite"),
    contract("sqlite-fence-heartbeat", "The same token on SQLite: heartbeats", "ExpiryContract.AStaleHeartbeatDoesNotProlongTheNewClaim",
             ((SQLITE + "heartbeat.sql", "and claim_seq = :claim_seq and", "and (claim_seq = :claim_seq or true) and"),), "sqlite"),
    contract("sqlite-fence-effect", "The same token on SQLite: effects", "EffectContract.ALostClaimIsFencedAndRecordsNothing",
             ((SQLITE + "holds_claim.sql", "claim_seq = :claim_seq", "(claim_seq = :claim_seq or true)"),), "sqlite"),
]

ONCE = [
    contract("dedup-effect", "A handler whose dedup row is there does not run again", "EffectContract.WhatTheHandlerHasHandledIsNotFresh",
             ((SETTLE, "when t.id = any (v_held) then 'handled'", "when t.id = any (v_held) then 'fresh'"),)),
    contract("dedup-settle", "A settle records who has handled the event, though the claim is lost",
             "DedupContract.AFencedSettleStillRecordsTheEffect",
             ((SETTLE, "    if cardinality(p_handlers) > 0 then\n        insert", "    if false then\n        insert"),)),
    contract("dedup-sqlite", "The dedup row on SQLite", "EffectContract.WhatTheHandlerHasHandledIsNotFresh",
             (("src/store/sqlite/sqlite_effect.cpp", "return *recorded ? Entered::fresh : Entered::handled;",
               "return *recorded ? Entered::fresh : Entered::fresh;"),), "sqlite"),
    contract("retention-inequality", "A dedup row outlives every replay of its event",
             "RetentionContract.PoliciesThatWouldForgetTooSoonAreRefused",
             (("src/core/retention.cpp", "if (event_handled.active > replayable) return {};",
               "if (event_handled.active > replayable - replayable) return {};"),)),
    contract("attempts-cap", "The last attempt fails the event", "SettleContract.TheLastAttemptFails",
             (("src/core/settle.cpp", "attempt.attempts_before >= policy.max_attempts - 1;", "attempt.attempts_before >= policy.max_attempts;"),)),
]

MARK = [
    integration("mark-open-transactions", "The low mark waits for every transaction that could commit below it",
                "PostgresClaim.CursorsAreSavedAndNeverPassAnOpenTransaction",
                (CLAIM, "if v_ended and v_row.low = v_at then\n            v_row.low := greatest(v_row.low, least(v_row.mark, coalesce(",
                 "if v_row.low = v_at then\n            v_row.low := greatest(v_row.low, least(v_row.mark, coalesce(")),
    interleaved("mark-only-what-was-read", "The low mark stops before the first event that can still be claimed", "TwoLooks",
                (CLAIM, "coalesce(v_first - 1, v_last)", "v_last"), control="Expiry"),
    interleaved("mark-keyed-open-transactions", "So it does over events with keys", "LateSuccessor",
                (CLAIM, "if v_ended and v_row.low = v_at then\n            v_row.low := greatest(v_row.low, least(v_row.mark, v_top",
                 "if v_row.low = v_at then\n            v_row.low := greatest(v_row.low, least(v_last, v_top")),
    interleaved("mark-keyed-only-what-was-read", "And stops before one that cannot be parked", "LateSuccessor",
                (CLAIM, "least(v_row.mark, v_top, v_held - 1)", "least(v_row.mark, v_top)")),
    interleaved("mark-own-id", "Beside the mark stands the own transaction's id, which is above those of all who drew", "LateCommits",
                (CLAIM, "mark_xid = case when v_ended then pg_current_xact_id()::text::bigint",
                 "mark_xid = case when v_ended then pg_snapshot_xmax(pg_current_snapshot())::text::bigint"), orders="3000"),
    integration("mark-first-number", "A sequence that was never drawn from has given out nothing",
                "PostgresClaim.TheFirstNumberOfAllIsNotPassedBeforeItIsDrawn",
                (CLAIM, "s.last_value - (not s.is_called)::int", "s.last_value")),
    integration("mark-read-before-id", "The sequence is read before the transaction has an id",
                "PostgresClaim.TheLowMarkIsMovedByWhoeverIsFirstInItsTransaction",
                (CLAIM, "if pg_current_xact_id_if_assigned() is not null then", "if false then")),
    integration("mark-group-lock", "One look at a time per group", "PostgresClaim.TheLowMarkIsMovedByWhoeverIsFirstInItsTransaction",
                (CLAIM, "c.group_key = p_group for update skip locked;", "c.group_key = p_group;"),
                (CLAIM, "    v_at := v_row.low;\n", "    perform set_config('lock_timeout', '1s', true);\n    v_at := v_row.low;\n")),
    integration("look-back", "A worker with nothing ahead looks behind the head",
                "PostgresClaim.FindsWhatAnOpenTransactionCommitsAfterThousandsHavePassed",
                (PG + "postgres_claim.cpp", "if (wants_look_back(**group, about_to_rest, room)) {",
                 "if (wants_look_back(**group, about_to_rest, room) && room < 0) {")),
    integration("look-back-owed", "A look back that may not be yet is owed, and ends the rest",
                "PostgresClaim.ALookBackThatMayNotBeYetEndsTheRest",
                (PG + "postgres_claim.cpp", "  group.owed = true;\n  return false;", "  return false;")),
    integration("known-after-reconnect", "What was learnt before a connection was lost is learnt again",
                "PostgresCrash.EventsWhoseClaimWasForgottenAreFoundAgain",
                (PG + "postgres_store_impl.hpp", "return group.learnt == learnt && pool_.opened() == learnt;",
                 "return group.learnt == learnt && pool_.opened() >= learnt;")),
]

# Without the row that holds the key of a claim.
KEY_ROW = (
    (CLAIM, "            insert into core.keys_in_flight (ordering_key, event_id)\n            select w.ordering_key, w.id from wanted w",
     "            select w.id as event_id from wanted w"),
    (CLAIM, "            on conflict do nothing\n            returning event_id)", ")"),
)

KEYS = [
    contract("key-in-flight", "An event waits for the one of its key that is in flight", "OrderingContract.AReplayedHeadWaitsForWhatIsInFlight",
             ((ORDERING, "where k.ordering_key = p_key collate \"C\" and k.event_id <> p_id;",
               "where k.ordering_key = p_key collate \"C\" and k.event_id <> p_id and false;"),
              *KEY_ROW)),
    interleaved("key-held-by-row", "A claim holds its key by a row with a unique key", "OverlappingClaims", *KEY_ROW),
    contract("key-waiting", "An event waits for an earlier one that waits for its retry", "OrderingContract.ADelayedHeadBlocksItsKey",
             ((ORDERING, "where o.ordering_key = p_key and o.retry_after is not null and o.seq < p_seq",
               "where o.ordering_key = p_key and o.retry_after is not null and o.seq < p_seq and false"),)),
    contract("key-new", "An event waits for an earlier one that nobody has claimed yet", "InterestContract.TheOrderOfAKeyHoldsAcrossInterests",
             ((ORDERING, "where o.ordering_key = p_key and o.seq < p_seq\n", "where o.ordering_key = p_key and o.seq < p_seq and false\n"),)),
    interleaved("key-every-earlier", "Every earlier event is asked, not the nearest", "OutOfOrder",
                (ORDERING, "    where o.ordering_key = p_key and o.retry_after is not null and o.seq < p_seq\n",
                 "    where o.ordering_key = p_key and o.retry_after is not null\n      and o.seq = (select max(n.seq) from core.outbox n where n.ordering_key = p_key and n.seq < p_seq)\n")),
    contract("key-unsubscribed", "An event that nobody subscribes to holds up nobody", "OrderingContract.AnEventThatNobodyWantsHoldsUpNobody",
             ((ORDERING, "and o.deleted_at is null and core.outbox_subscribed(o)\n    order by o.seq limit 1;\n    return v_id;",
               "and o.deleted_at is null\n    order by o.seq limit 1;\n    return v_id;"),)),
    contract("key-release", "A delivery releases its key", "OrderingContract.TheSuccessorFollowsTheDelivery",
             ((ORDERING, "where k.ordering_key = any (p_keys) and k.event_id = any (p_ids);",
               "where k.ordering_key = any (p_keys) and k.event_id = any (p_ids) and false;"),)),
    interleaved("key-release-parked", "A delivery makes due what is parked behind it", "LateSuccessor",
                (ORDERING, "        perform core.outbox_unblock(v_key, null);\n", "        null;\n")),
    integration("due-all", "What became due long ago is looked for, too", "PostgresClaim.WhatBecameDueLongAgoIsFoundWhileLooksAreBounded",
                (PG + "postgres_claim.cpp", "|| now >= due.not_before) return kEver;", "|| due.not_before == due.last) return kEver;")),
    integration("late-holes", "A dear look back is followed by looks at the numbers that were missing",
                "PostgresClaim.ALateCommitIsFoundAmongTheNumbersThatWereMissing",
                (PG + "postgres_claim.cpp", "if (group.holes && start < group.holes->until) holes = group.holes;", "")),
    integration("key-release-by-row", "A plain UPDATE releases its key", "PostgresClaim.APlainUpdateReleasesItsKey",
                (RULES, "coalesce(current_setting('sluice.keys', true), '') = 'released by batch'", "current_setting('sluice.keys', true) = 'released by batch'")),
    integration("key-next", "A delivery names what waited for its key, and the next claim takes it",
                "PostgresClaim.WhatWaitedForAKeyIsTakenWithoutALookBack",
                (PG + "postgres_hold.cpp", "  remember(settled->next);\n", "")),
    integration("key-next-of-effect", "So does a delivery in a handler's transaction",
                "PostgresClaim.WhatWaitedForAKeyIsTakenWithoutALookBack",
                (PG + "postgres_effect.cpp", "    if (committed) store_.remember(next_);\n", "")),
    interleaved("key-unblock", "A failure makes the next of its key due", "LateSuccessorOfAFailure",
                (RULES, "perform core.outbox_unblock(old.ordering_key, case when new.status = 'pending' then old.seq end);",
                 "perform length(old.ordering_key);")),
    interleaved("park-holds-blocker", "Parking holds the row of the event that is waited for", "LateSuccessor",
                (ORDERING, " for share skip locked;", ";")),
    integration("park-asks-again", "Parking asks again under the lock", "PostgresClaim.AnEventIsNotParkedBehindOneThatWasGivenBackMeanwhile",
                (ORDERING, "        continue when core.outbox_blocker(v_event.ordering_key, v_event.seq, v_event.id) is distinct from v_blocker;\n", "")),
    interleaved("park-and-withdrawal", "Nothing is parked while a subscription is withdrawn", "Withdrawn",
                (SUBSCRIPTIONS, "    perform pg_advisory_xact_lock(hashtextextended('sluice.park', 0));\n", "")),
    interleaved("unblock-past-unwanted", "What is released and wanted by nobody passes the release on", "PassersBy",
                (ORDERING, "if core.outbox_subscribed(v_parked) then", "if true then")),
    interleaved("key-floor-open-transactions", "The floor of the keys waits for open transactions, too", "TwoLooks",
                (ORDERING, "    if not v_ended then\n        return;", "    if false then\n        return;"), control="Expiry"),
    contract("sqlite-key-block", "One event of a key at a time on SQLite", "OrderingContract.OneEventOfAKeyAtATime",
             ((SQLITE + "claim_fresh.sql", "and key_blocked = 0", "and key_blocked >= 0"),), "sqlite"),
]

PATROLS = [
    contract("patrol-passed-over", "The patrol makes due what every claim has passed",
             "PatrolContract.AnEventThatEveryClaimHasPassedIsMadeDue",
             ((PATROL, "where c.generation = o.generation and o.seq <= c.low\n", "where c.generation = o.generation and o.seq <= c.low and false\n"),)),
    contract("patrol-no-claim", "The patrol expires what is in flight without a claim", "PatrolContract.AnEventInFlightWithoutAClaimIsExpired",
             ((PATROL, "when o.status = 'in_flight' and coalesce(", "when false and o.status = 'in_flight' and coalesce("),)),
    contract("patrol-blocker-gone", "The patrol releases what waits for nothing of its key",
             "PatrolContract.AnEventThatWaitsForNothingOfItsKeyIsReleased",
             ((PATROL, "core.outbox_blocker(o.ordering_key, o.seq, o.id) is null then", "false then"),)),
    integration("patrol-stale-keys", "The patrol frees keys whose holder is not in flight",
                "PostgresPatrolledClaim.FreesAKeyWhoseHolderIsNotInFlight",
                (PATROL, "    if v_state.generation = 0 then\n", "    if false then\n")),
    contract("patrol-patience", "The patrol leaves a claim a minute", "PatrolContract.AClaimHasAMinuteToFindIt",
             ((PATROL, "and o.published_at < now() - p_overlooked", "and o.published_at <= now()"),)),
    contract("patrol-held-claims", "The patrol leaves claims that are held alone", "PatrolContract.AClaimThatIsHeldIsLeftAlone",
             ((PATROL, "where c.generation = o.generation and o.seq = any (c.seqs)) then", "where false) then"),)),
    contract("patrol-lease", "One process patrols at a time", "PatrolContract.OneHolderAtATime",
             ((PATROL, "v_state.holder <> p_holder and v_state.lease_until > now()", "false"),)),
    contract("sqlite-patrol-no-claim", "The patrol on SQLite expires what has no claim", "PatrolContract.AnEventInFlightWithoutAClaimIsExpired",
             ((SQLITE + "patrol_no_claim.sql", "and julianday(claim_expires_at) is null", "and julianday(claim_expires_at) is null and false"),), "sqlite"),
    contract("sqlite-patrol-keys", "The patrol on SQLite releases what waits for nothing of its key",
             "PatrolContract.AnEventThatWaitsForNothingOfItsKeyIsReleased",
             ((SQLITE + "patrol_keys.sql", "where key_blocked = 1 and", "where false and key_blocked = 1 and"),), "sqlite"),
    Mutant("patrol-runs", "A supervisor patrols and announces what it has healed", "runtime_test",
           "PatrolOnAStore.ASupervisorDeliversWhatItsPatrolHeals",
           (("src/runtime/supervisor.cpp", "if (report.healed > 0) notifier_.announce();", "if (report.healed > 1000000) notifier_.announce();"),)),
    integration("sequence-check", "A sequence that is behind its rows or marks is said", "PostgresDoctor.NumbersThatTheScanCannotRelyOnAreFoundWithTheirCure",
                (PG + "sql/query/sequence_check.sql", "where greatest(s.newest, s.mark) > d.last", "where false")),
    integration("sequence-cache", "A sequence with a cache is said", "PostgresDoctor.NumbersThatTheScanCannotRelyOnAreFoundWithTheirCure",
                (PG + "sql/query/schema_check.sql", "and q.seqcache <> 1", "and false")),
]

WAKING = [
    Mutant("safety-poll", "Workers look by themselves while nobody listens", "runtime_test", "ListenerHealthTest.PollingFallbackTiming",
           (("src/runtime/listener_health.cpp", "? times_.safety_poll : std::min(times_.poll, times_.safety_poll);",
             "? times_.safety_poll : times_.safety_poll;"),)),
    Mutant("wake-before-rest", "A wake between the claim and the rest ends the rest", "runtime_test", "WakeSignal.AWakeBeforeTheRestIsNotLost",
           (("src/runtime/wake_signal.cpp", "return count_ != seen || one_wanted_;", "return (count_ != seen && false) || one_wanted_;"),)),
    Mutant("wake-one-before-rest", "A wake for one between its empty claim and its rest is not lost", "runtime_test",
           "WakeOrders.NoWakeIsLostBetweenAnEmptyClaimAndTheRest",
           (("src/runtime/wake_signal.cpp", "  const bool woken = changed_.wait_for(", "  one_wanted_ = false;\n  const bool woken = changed_.wait_for("),)),
    Mutant("own-publish-is-news-once", "An event that was not stored here is news when somebody else stores it", "runtime_test",
           "NotifierTest.WhatWasNotStoredIsNewsWhenSomebodyElseStoresIt",
           (("src/runtime/notifier.cpp", "own_.erase(event.envelope.event_id());", "(void)event;"),)),
    Mutant("baton-look-before-sleep", "Who takes the bell looks once more before sleeping", "delivery_test", "Doorbell/PublishedAtEachStep.IsHandled/last",
           ((PG + "postgres_baton.cpp", "return true;  // look", "return false;  // look"),)),
    Mutant("baton-bell", "A publisher rings while all sleep", "delivery_test", "Doorbell.ASleeperIsRung",
           ((PG + "sql/admin/doorbell_when_idle.sql", "when (not pg_try_advisory_xact_lock_shared(1936487785, hashtext(new.channel)))",
             "when (false)"),)),
]

GATES = [
    contract("edge-trigger", "The database refuses every transition that is not in the edge table", "IntegrityContract.OnlyTheEdgesOfTheTableArePossible",
             ((RULES, "    if new.status is distinct from old.status then\n        case", "    if false then\n        case"),)),
    contract("audit-append-only", "The audit cannot be changed", "DiscardContract.TheAuditCannotBeChanged",
             ((RULES, "    raise exception 'core.audit is append-only' using errcode = 'SL403';\n", "    return null;\n"),)),
    contract("plan-count", "An operation starts with the number that was confirmed", "OperationContract.AStartNeedsAReasonAndTheRightNumber",
             ((OPERATIONS, "elsif p_confirmed <> v_operation.total then", "elsif false then"),)),
    contract("plan-moved", "An operation does not start on events that have moved since its plan", "OperationContract.ASetThatMovedCannotStart",
             ((OPERATIONS, "    if v_moved > 0 then", "    if false then"),)),
    contract("operation-lease", "One process carries an operation out", "OperationStepContract.OneExecutorAtATime",
             ((OPERATIONS, "elsif v_live and v_operation.executor <> p_executor and v_operation.lease_until > now() then", "elsif false then"),)),
    contract("acknowledged-silent", "An acknowledged dead letter no longer counts as one that needs review",
             "TriageContract.AcknowledgedDeadLettersAreNotCountedAsOpen",
             ((PG + "sql/query/dead_unacknowledged.sql", "          and o.failed_at > coalesce(c.acknowledged_at, '-infinity')\n", ""),)),
    Mutant("fingerprint-ambiguous", "A beginning that several fingerprints share names none of them", "ops_test",
           "DeadLetters.AFingerprintMayBeGivenByItsBeginning",
           (("src/ops/dead_letters.cpp", "if (found->size() == 1) return found->front();", "if (!found->empty()) return found->front();"),)),
    integration("retire-gate", "A generation is not retired under an open publisher", "PostgresRetire.WaitsForAPublisherThatIsOlderThanTheDrain",
                (GENERATIONS, "        if v_open is not null then", "        if false then")),
    integration("retire-publish", "Nobody publishes into a retired generation", "PostgresRetire.PublishingIntoARetiredGenerationIsRefused",
                (PUBLISH, "d.generation = v_generation and d.state = 'retired')", "d.generation = v_generation and false)")),
    integration("payload-limit-sql", "A payload that is too large is refused by the publish function", "PostgresSqlSurface.PublishFunctionNamesTheBadArgument",
                (PUBLISH, "if v_large and core.payload_complaint(p_payload) is not null then", "if false then")),
    integration("payload-limit-insert", "A payload that becomes too large is refused by a plain INSERT",
                "PostgresBounds.NumbersThatBecomeTooManyDigitsAreRefusedByAPlainInsert",
                (RULES, "        or case when pg_column_size(new.payload || '{}') > 8000 then true else octet_length(new.payload::text) > 8000 end)", ")")),
    integration("audit-setting", "A tombstone that a user changes is audited, whatever is set", "PostgresBounds.NoSettingOfAUsersOwnSwitchesTheAuditOff",
                (RULES, "if not exists (select from core.audited a where a.xid = pg_current_xact_id()::text::bigint) then", "if current_setting('sluice.audited', true) is distinct from 'on' then")),
    integration("tombstone-backdated", "A tombstone is of now", "PostgresBounds.ATombstoneIsOfNow",
                (RULES, "if new.deleted_at not between now() and clock_timestamp() then", "if false then")),
    integration("sweep-roles", "Workers and operators cannot sweep sooner than the database keeps", "PostgresBounds.WorkersAndOperatorsCannotSweepSooner",
                (RETENTION, "where t.asked < s.value::interval", "where false")),
    integration("sweep-inequality", "The database knows the retention inequality", "PostgresBounds.TheInequalityHoldsForTheOwnerToo",
                (RETENTION, "elsif coalesce(p_handled_active <= p_active + p_grace, true) then", "elsif false then")),
    contract("sweep-age", "An event is as old as its latest change", "RetentionContract.ARestoredEventIsKeptAsLongAgain",
             ((RETENTION, "greatest(o.published_at, o.failed_at, o.restored_at) <= now() - p_active", "o.occurred_at <= now() - p_active"),)),
    contract("sweep-dedup", "A dedup row stays while its event does", "RetentionContract.ADedupRowStaysWhileItsEventDoes",
             ((RETENTION, "              and (select o.id from core.outbox o where o.id = e.event_id) is null\n", ""),)),
    contract("placeholder-channel", "A plain INSERT is for the channel of its generation", "PublishContract.APlainInsertIsForTheChannelOfItsGeneration",
             ((RULES, "    if new.channel = 'outbox_default' then\n", "    if false then\n"),)),
    integration("generation-exists", "Nobody publishes to a generation that does not exist", "PostgresBounds.PublishNamesTheArgument",
                (PUBLISH, "if p_generation is not null and not core.generation_exists(p_generation) then", "if false then")),
    Mutant("payload-twice", "A member that comes twice is not stored", "unit_test", "JsonCheck.AMemberThatComesTwiceIsNotStored",
           (("src/core/json.cpp", "if (same == names.end()) return true;", "if (same == names.end() || storable_) return true;"),)),
    Mutant("payload-digits", "A number counts with all its digits", "unit_test", "Envelope.ThePayloadLimitCountsTheDigitsThatAreStored",
           (("src/core/json.cpp", "    written_ += number.written_bytes();\n", ""),)),
    Mutant("unreadable-row", "A row that cannot be written is claimed without its payload", "delivery_test",
           "ListenerFaults.APayloadThatCannotBeWrittenBecomesADeadLetter",
           ((PG + "postgres_claim.cpp", "if (!rows && pq::is_out_of_memory(rows.error())) {", "if (!rows && false) {"),), outcome="timeout"),
    Mutant("payload-limit", "A payload that is too large is refused", "unit_test", "Envelope.ThePayloadLimitIs256KiB",
           (("src/core/envelope.cpp", "if (payload.size() > limits.payload_bytes) {", "if (payload.size() > 2 * limits.payload_bytes) {"),)),
    Mutant("redact-password", "A password does not leave in a message", "unit_test", "Urls/Redaction.HidesThePasswordAndNothingElse/0",
           (("src/core/redact.cpp", "if (has_password) out += kMask;", "if (has_password) out += url.substr(colon + 1, at - colon - 1);"),)),
    Mutant("exec-allowed", "Programs run only where the configuration allows it", "unit_test", "Declaring.ProgramsRunOnlyWhereTheyMay",
           (("src/config/declare_sink.cpp", "if (!context.exec_enabled) {", "if (!context.exec_enabled && sink.command.empty()) {"),)),
    Mutant("ssrf-connect", "The address is checked when the connection is made", "serve_sink_test",
           "HttpSinkTest.InnerAddressesAreRefusedHoweverTheyAreWritten",
           (("src/sink/http/transfer.cpp", "if (auto refusal = transfer.options_.guard.refusal(*ip)) {",
             "if (auto refusal = transfer.options_.guard.refusal(*ip); refusal && refusal->empty()) {"),)),
    Mutant("ssrf-redirect", "Redirects are not followed", "serve_sink_test", "HttpSinkTest.RedirectsAreNotFollowed",
           (("src/sink/http/transfer.cpp", "CURLOPT_FOLLOWLOCATION, 0L", "CURLOPT_FOLLOWLOCATION, 1L"),)),
    Mutant("header-line-break", "No value of an event begins another header", "unit_test", "DeliveryRequest.NoValueBeginsAnotherHeader",
           (("src/sink/http/request.cpp", "if (std::any_of(value.begin(), value.end(), is_control)) return;",
             "if (std::all_of(value.begin(), value.end(), is_control)) return;"),
            ("src/sink/http/request.cpp", "event.trace_context() && check_trace_context(*event.trace_context())", "event.trace_context()"))),
    contract("trace-context", "A row's trace_context is a traceparent", "SwitchContract.NoRowCarriesATraceContextThatIsNone",
             ((RULES, "        or new.trace_context !~ '^00-", "        or false and new.trace_context !~ '^00-"),)),
    contract("sqlite-trace-context", "A row's trace_context is a traceparent on SQLite", "SwitchContract.NoRowCarriesATraceContextThatIsNone",
             (("src/store/sqlite/sql/migration/0001_tables.sql", "check (length(cast(trace_context as blob)) = 55 and",
               "check (true or"),), "sqlite"),
    contract("sink-reason", "A sink is not switched without a reason", "SwitchContract.RefusesWhatCannotBe",
             ((SUBSCRIPTIONS, "    if coalesce(p_reason, '') = '' then\n        raise exception 'reason: say why' using errcode = 'SL422';\n    elsif p_state",
               "    if false then\n        raise exception 'reason: say why' using errcode = 'SL422';\n    elsif p_state"),)),
    Mutant("sink-gone-kept", "That a receiver is gone is in the store before the event is settled", "serve_sink_test",
           "SharedState.AReceiverThatIsGoneIsGoneForAllAndAfterARestart",
           (("src/daemon/sink_board.cpp", "if (!sink || !sink->has_news()) return;", "if (!sink || sink->has_news()) return;"),)),
    Mutant("sink-follows", "A sink follows what the store says before it delivers", "serve_sink_test",
           "SharedState.AnOperatorsPauseReachesEverybody",
           (("src/sink/switched_sink.cpp", "switch_ = shared.state;", "if (news_.size() > 1000) switch_ = shared.state;"),)),
    Mutant("drain-releases", "A stop that runs out of time counts no attempt", "runtime_test",
           "DrainTest.ReleasesAFunctionThatThrowsWhenItIsStopped",
           (("src/runtime/run_handler.cpp", "const bool cut_short = stop.stop_requested() &&", "const bool cut_short = !stop.stop_possible() &&"),)),
    Mutant("http-host", "A name that is not the server's own is not answered", "http_test", "ApplicationTest.NamesAndOriginsAreChecked",
           (("src/http/access.cpp", "if (rules_.loopback) return is_loopback(host);", "if (rules_.loopback) return true;"),)),
    Mutant("http-origin", "A page of another origin is refused", "http_test", "ApplicationTest.NamesAndOriginsAreChecked",
           (("src/http/application.cpp", "if (!access_.same_origin(request)) {", "if (!access_.same_origin(request) && !request.header(\"host\")) {"),)),
    Mutant("http-origin-listed", "Of the names that are listed, an origin has to be one", "http_test",
           "Access.APageUnderAListedNameIsOursWhateverTheProxyCallsTheServer",
           (("src/http/access.cpp", "[&](const std::string& name) { return lower_case(name) == host; }",
             "[&](const std::string& name) { return host.starts_with(lower_case(name)); }"),)),
    Mutant("http-packed", "A packed body is not read as if it were none", "http_test", "ApplicationTest.ABodyIsNotUnpacked",
           (("src/http/application.cpp", "if (match.route->body_limit > 0 && is_coded(request)) {",
             "if (match.route->body_limit == 0 && is_coded(request)) {"),)),
    Mutant("pull-signature", "A claim that the store did not sign settles nothing", "runtime_test", "PullToken.AnotherSecretSignsNothing",
           (("src/runtime/pull_token.cpp",
             "if (!crypto::equal(std::string_view{*decoded}.substr(0, kSignature), signature_of(signed_text, secret))) {",
             "if (signed_text.empty()) {"),)),
    Mutant("pull-batch", "No token names the batch that a store does not look up", "runtime_test", "PullToken.NoClaimIsOfBatchZero",
           (("src/runtime/pull_token.cpp", "if (!numbers || token.claim.batch == 0) return std::nullopt;", "if (!numbers) return std::nullopt;"),)),
    Mutant("pull-repeated", "One claim is settled once in a request", "runtime_test",
           "PullSettlingTest.OfTheSameClaimTwiceInOneCallTheFirstCounts",
           (("src/runtime/pull_settling.cpp", "token.claim.claim_seq}, i).second) {", "token.claim.claim_seq}, i).second && i == 0) {"),)),
    Mutant("http-token", "A token that nobody was given opens nothing", "http_test", "Access.AnythingElseIsNobody",
           (("src/http/access.cpp", "if (crypto::equal(token.digest, digest)) found", "if (crypto::equal(token.digest, digest) || !found) found"),)),
]

ENDS = [
    contract("expiry-progress", "What is known of each handler outlives an expired claim",
             "ExpiryContract.WhatIsKnownOfEachHandlerOutlivesAnExpiry",
             (("src/core/decide.cpp", "if (!attempt.progress.empty()) return expire_several", "if (attempt.attempts < 0) return expire_several"),)),
    Mutant("expiry-maximum", "A handler that is out of attempts is not run again", "runtime_test",
           "WorkerAttempts.AHandlerThatIsOutOfAttemptsIsNotRunAgain",
           (("src/runtime/dispatcher.cpp", "    close_out_of_attempts(works[i], open);\n", "    if (open.empty()) close_out_of_attempts(works[i], open);\n"),)),
    integration("claims-elsewhere", "The last settle of a batch that another process claimed removes its claim",
                "PostgresClaim.WhatIsPulledThroughTwoStoresLeavesNothingBehind",
                (PG + "postgres_hold.cpp", "if (!batches.elsewhere.empty()) {", "if (batches.elsewhere.size() > 1000) {")),
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

MUTANTS = FENCES + ONCE + MARK + KEYS + PATROLS + WAKING + GATES + ENDS
