"""The guards of partitions, in the form of table.py."""
from mutant import ACTIONS, CLAIM, RETENTION, SETTLE, integration

MONTHS = "src/store/postgres/sql/migration/0013_partitions.sql"
BEGIN = "src/store/postgres/sql/admin/partition_begin.sql"
LADDER = "src/ops/ladder.cpp"

PARTITIONS = [
    integration("partition-place", "A claim takes a row of the month that it locked it in", "Partitions.AClaimTakesNoNeighbourOfTheSamePlace",
                (CLAIM, "o.ctid = any (v_tids) and o.tableoid = v_leaf and o.occurred_at >= v_from and o.occurred_at <= v_to",
                 "o.ctid = any (v_tids)")),
    integration("partition-window", "A claim of several months tells their places apart", "Partitions.AClaimOfSeveralMonthsTakesEachOnce",
                (CLAIM, "        if v_leaf = all (v_leaves) then\n", "        if v_leaf = any (v_leaves) then\n")),
    integration("partition-plan", "No claim can use an index that looks cheap in an empty month",
                "Partitions.AClaimIsPlannedOverTheScanInEmptyMonthsToo",
                ("src/store/postgres/sql/migration/0001_tables.sql", "where deleted_at is null and published_at is not null;",
                 "where deleted_at is null;")),
    integration("partition-once", "An id is published once, whatever its month", "Partitions.AnIdIsPublishedOnceWhateverItsMonth",
                (MONTHS, "o.id = new.id and o.tableoid <> tg_relid", "o.id = new.id and false")),
    integration("partition-settle", "A settle changes no row of the same place in another month", "Partitions.ASettleChangesNoNeighbourOfTheSamePlace",
                (SETTLE, "o.ctid = any (p_tids) and o.occurred_at >= p_from and o.occurred_at <= p_to\n          and o.id = t.id and",
                 "o.ctid = any (p_tids) and o.occurred_at >= p_from and o.occurred_at <= p_to\n          and")),
    integration("partition-held-pending", "A month with something pending is not dropped", "HeldPartitions.ByWhatIsPending",
                (ACTIONS, "from %s o where (o.status in (''pending'', ''in_flight'') and o.deleted_at is null) or o.delivered_at", "from %s o where o.delivered_at")),
    integration("partition-held-dead", "A month with dead letters is not dropped", "HeldPartitions.ByDeadLettersUntilTheSweepHasTakenThem",
                (ACTIONS, "    if v_held <> '0' then\n", "    if v_held < '0' then\n")),
    integration("partition-held-young", "A month with something young is not dropped", "HeldPartitions.ByWhatIsNotOldEnough",
                (ACTIONS, "into v_held using p_active + p_grace, p_grace;", "into v_held using interval '1000 years', p_grace;"),
                (ACTIONS, "into v_held using p_active + p_grace;\n    end if;", "into v_held using interval '1000 years';\n    end if;")),
    integration("partition-dead-swept", "The dead letters of a month are swept", "Partitions.DeadLettersOfAMonthAreSweptOneByOneAndDeliveredEventsAreNot",
                (RETENTION, "    if v_below < 'infinity' then\n        -- The dead", "    if false then\n        -- The dead")),
    integration("partition-month-whole", "Delivered events of a month are not swept one by one",
                "Partitions.DeadLettersOfAMonthAreSweptOneByOneAndDeliveredEventsAreNot",
                (RETENTION, "      and (o.occurred_at < v_below or o.occurred_at >= v_above)\n", "")),
    integration("partition-move-silent", "An event that moves out of the default partition keeps its key",
                "Partitions.MonthsAreMadeAheadAndForWhatTheDefaultHolds",
                (MONTHS, "        alter table core.outbox_default disable trigger user;\n", "")),
    integration("partition-lock-short", "Who waits for the table lets the others pass", "PartitionLadder.WhoHoldsTheTableIsNamed",
                (BEGIN, "set local lock_timeout = '100ms';", "set local lock_timeout = '20s';"),
                (LADDER, "if (tried == order.tries) {", "if (tried == 1) {")),
    integration("partition-obstacles", "A view is not left behind with the oldest partition", "PartitionLadder.WhatCannotGoAlongIsNamed",
                (LADDER, "if (obstacles.empty()) return {};", "if (obstacles.size() < 1000) return {};")),
    integration("partition-defused", "A constraint that nobody needs any more refuses no publisher",
                "PartitionLadder.EventsOfTheFutureAreRefusedBeforeAnythingIsLeftBehind",
                (LADDER, "      SLUICE_CHECK(store.abandon_partition(order.actor));\n      return beyond", "      return beyond")),
    integration("partition-abandoned", "Steps that nobody finishes are undone before their month",
                "PostgresClaim.StepsTowardsPartitionsThatNobodyFinishesAreUndone",
                (MONTHS, "core.partition_boundary() < now() + interval '2 days'", "core.partition_boundary() < now() - interval '2 days'")),
]
