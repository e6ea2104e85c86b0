"""Guards of the attempt log and of the history of deliveries; see table.py."""
from mutant import ACTIONS, ATTEMPTS, ATTEMPTS_ONCE, HISTORY, SQLITE, Mutant, contract

SQLITE_SETTLE = "src/store/sqlite/sqlite_settle.cpp"
TELEMETRY = "src/runtime/telemetry.cpp"


def observed(name, guard, test, *edits):
    return Mutant(name, guard, "runtime_test", "HistoryLogTest." + test, edits, "WorkerTest.DeliversAndRecordsWhoHandled")


HISTORIES = [
    contract("attempts-once", "An attempt whose report is made twice is logged once", "AttemptContract.AReportWhoseAnswerWasLostIsLoggedOnce",
             ((ATTEMPTS_ONCE, "(a.v ->> 'claim_seq')::bigint > 0 or not exists (", "true or not exists ("),)),
    contract("attempts-once-sqlite", "The same on SQLite", "AttemptContract.AReportWhoseAnswerWasLostIsLoggedOnce",
             ((SQLITE + "attempts_record.sql", "where given.value ->> 'claim_seq' > 0 or not exists (", "where true or not exists ("),), "sqlite"),
    Mutant("attempts-once-relay", "The same when the network takes the database's answer", "relay_test",
           "Brokers/RelayBadDay.AnAttemptWhoseReportsAnswerWasLostIsLoggedOnce/nats",
           ((ATTEMPTS_ONCE, "(a.v ->> 'claim_seq')::bigint > 0 or not exists (", "true or not exists ("),)),
    contract("attempts-bound", "Of an event the first and the latest attempts are kept", "AttemptContract.TheFirstAndTheLatestAreKept",
             ((ATTEMPTS_ONCE, "and t.number > 1 and t.number <= own.latest - (v_most - 1);", "and false;"),)),
    contract("attempts-bound-sqlite", "The same on SQLite", "AttemptContract.TheFirstAndTheLatestAreKept",
             (("src/store/sqlite/sql/query/attempts_trim.sql", "and number > 1", "and number > 1 and false"),), "sqlite"),
    contract("attempts-fence", "A fenced attempt leaves nothing", "AttemptContract.AFencedAttemptLeavesNothing",
             ((ATTEMPTS, "core.attempts_record(p_attempts, array_remove(v_fenced, null));", "core.attempts_record(p_attempts, '{}');"),)),
    contract("attempts-fence-sqlite", "The same on SQLite", "AttemptContract.AFencedAttemptLeavesNothing",
             ((SQLITE_SETTLE, "if (std::find(report.fenced.begin(), report.fenced.end(), id) != report.fenced.end()) continue;", ""),),
             "sqlite"),
    contract("attempts-retention", "The log goes with its event", "AttemptContract.RetentionTakesTheLogWithItsEvent",
             ((ACTIONS, "        delete from core.attempts a where a.event_id = any (v_ids);\n", ""),)),
    contract("history-adds", "What processes write for one minute adds up", "HistoryContract.ProcessesAddUp",
             ((HISTORY, "delivered = h.delivered + excluded.delivered,", "delivered = excluded.delivered,"),)),
    contract("history-histograms-add", "Histograms add up too", "HistoryContract.ProcessesAddUp",
             ((HISTORY, "first = core.histogram_add(h.first, excluded.first),", "first = excluded.first,"),)),
    contract("history-adds-sqlite", "The same on SQLite", "HistoryContract.ProcessesAddUp",
             (("src/store/sqlite/sqlite_maintain.cpp", "HistoryCounts sum = found ? std::move(found->counts) : HistoryCounts{};",
               "HistoryCounts sum;"),), "sqlite"),
    contract("history-kept", "Minutes are kept for a day", "HistoryContract.MinutesAreKeptForADayAndHoursForFortyFive",
             ((HISTORY, "where not h.hourly and (h.at < now() - p_minutes_kept or", "where not h.hourly and (false or"),)),
    observed("history-replays-apart", "A replay is measured from the replay", "AReplayCountsFromTheReplay",
             (TELEMETRY, "event.replayed_at.value_or(event.envelope.occurred_at())", "event.envelope.occurred_at()")),
    observed("history-replays-own", "Replays have a histogram of their own", "AReplayCountsFromTheReplay",
             (TELEMETRY, "= work.event.replay > 0 ? seen->replays", "= false ? seen->replays")),
    observed("attempts-first-success", "A first success writes nothing", "AFirstSuccessIsNoAttemptInTheLog",
             ("src/runtime/work.cpp", "if (!is_kept(work, rules)) return attempts;", "")),
    Mutant("history-quiet", "A quiet interval of one series is zero only where something is known", "ops_test",
           "ChartPoints.AQuietIntervalOfOneSeriesIsZeroAndNoGap",
           (("src/ops/history.cpp", "if (!points[i].counts && all[i].counts) points[i].counts.emplace();",
             "if (!points[i].counts) points[i].counts.emplace();"),)),
    Mutant("operation-rate-left", "The time left is no shorter than the rate allows", "ops_test", "OperationPaceTest.TellsPhaseSpeedAndWhatIsLeft",
           (("src/ops/operations.cpp", "seconds = std::max(seconds, static_cast<double>(counts.remaining()) / rate);",
             "seconds = std::min(seconds, static_cast<double>(counts.remaining()) / rate);"),)),
]
