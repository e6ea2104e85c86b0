"""Guards of the ladder: when a step is due, and that a move loses and doubles nothing; see table.py."""
from mutant import Mutant, integration


LADDER = [
    Mutant("ladder-gap", "A gap in the history ends what held before it", "unit_test", "Ladder.AGapEndsWhatHeldBeforeIt",
           (("src/core/ladder.cpp", "<= kLadderGap)", "<= 1000 * kLadderGap)"),)),
    Mutant("ladder-future", "Samples from before the clock was set back do not count", "unit_test",
           "Ladder.AClockThatWasSetBackLeavesSamplesFromTheFutureOut",
           (("src/core/ladder.cpp", "return sample.hour > now;", "return sample.hour > now && false;"),)),
    Mutant("ladder-window", "Steady is a whole week", "unit_test", "Ladder.AnHourLessThanAWeekIsNot",
           (("src/core/ladder.cpp", "now - *trigger.since >= kLadderWindow", "now - *trigger.since >= kLadderWindow / 2"),)),
    Mutant("ladder-replays", "What waited for other reasons is no latency", "runtime_test",
           "LadderLogTest.ReplaysRetriesAndScheduledEventsDoNotCount",
           (("src/runtime/telemetry.cpp", "if (work.event.fresh)", "if (!work.event.fresh || work.event.fresh)"),)),
    integration("move-claims", "What was in flight is given to the reaper", "PostgresMove.EverythingIsThereAndGoesOn",
                ("src/store/postgres/sql/query/move_finish.sql", "from core.outbox o where o.status = 'in_flight'\n    group by",
                 "from core.outbox o where o.status = 'none'\n    group by")),
    integration("move-refuse", "A store that has moved refuses publishes", "PostgresMove.TheOldStoreNamesTheNewHome",
                ("src/store/sqlite/sqlite_move.cpp", "connection.script(filled(sql::move_refuse.text, {{\"message\", sentence}}))",
                 "connection.script(sentence.empty() ? sentence : std::string{})")),
    integration("move-changed", "A slice that has changed is copied again", "PostgresMove.BrokenOffAnywhereItGoesOn",
                ("src/ops/move.cpp", "known == known_.end() || known->second.digest != moved.digest", "known == known_.end()")),
    integration("move-gone", "A slice that is gone is forgotten there, too", "PostgresMove.WhatWasDeletedMeanwhileIsGoneThereToo",
                ("src/ops/move.cpp", "gone.insert(slice);", "if (slice.table.empty()) gone.insert(slice);")),
    integration("move-back-changed", "Nobody goes back past a change", "PostgresMove.ADeliveryInTheNewStoreIsAChange",
                ("src/ops/move.cpp", "if (differing != 0) {\n      return refused(counted", "if (differing < 0) {\n      return refused(counted")),
    integration("move-empty", "A database that is in use is no target", "PostgresMove.ADatabaseThatIsInUseIsRefused",
                ("src/ops/move.cpp", "if (!owner && state.holds_rows)", "if (!owner && state.holds_rows && state.has_workers)")),
]
