"""What a mutant is, the files that mutants change, and the controls of their programs."""
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
    "relay_test": "Brokers/RelayTest.AnEventThatNobodySubscribesToIsNotRelayed/nats",
    "delivery_test": "Broadcast.ATargetedEventReachesItsContextOnly",
    "runtime_test": "WorkerTest.DeliversAndRecordsWhoHandled",
    "serve_sink_test": "HttpSinkTest.AnEventArrivesAsItsEnvelope",
    "http_test": "RouterTest.FindsByMethodAndPath",
    "ops_test": "Generations.ThePreviewOfAnAllocationIsTheNextNumber",
    "mcp_test": "DeadLetterToolsTest.OldestFirstOnRequest",
    "sqlite_store_test": "Checkpoints.WhoWritesKeepsTheLogShort",
    "broker_test": "OpenBroker.RefusesWhatCannotBe",
    "unit_test": "Uuid.TextReadsBackInEitherCase",
}

RULES = "src/store/postgres/sql/migration/0002_rules.sql"
PUBLISH = "src/store/postgres/sql/migration/0003_publish.sql"
SUBSCRIPTIONS = "src/store/postgres/sql/migration/0004_subscriptions.sql"
ORDERING = "src/store/postgres/sql/migration/0005_keys.sql"
CLAIM = "src/store/postgres/sql/migration/0006_claim.sql"
SETTLE = "src/store/postgres/sql/migration/0007_settle.sql"
TRIAGE = "src/store/postgres/sql/migration/0008_triage.sql"
OPERATIONS = "src/store/postgres/sql/migration/0009_operations.sql"
GENERATIONS = "src/store/postgres/sql/migration/0010_generations.sql"
RETENTION = "src/store/postgres/sql/migration/0011_retention.sql"
PATROL = "src/store/postgres/sql/migration/0012_patrol.sql"
RELAY = "src/store/postgres/sql/migration/0015_relay.sql"
RELAY_SWITCH = "src/store/postgres/sql/migration/0016_relay_switch.sql"
ATTEMPTS = "src/store/postgres/sql/migration/0017_attempts.sql"
HISTORY = "src/store/postgres/sql/migration/0018_history.sql"
ACTIONS = "src/store/postgres/sql/migration/0019_operator_actions.sql"
SEND_AGAIN = "src/store/postgres/sql/migration/0020_send_again.sql"
FIXES = "src/store/postgres/sql/migration/0024_operator_fixes.sql"
RESCAN = "src/store/postgres/sql/migration/0025_rescan.sql"
PLANS = "src/store/postgres/sql/migration/0026_plans.sql"
ATTEMPTS_ONCE = "src/store/postgres/sql/migration/0027_attempts_once.sql"
WITHDRAWN = "src/store/postgres/sql/migration/0028_withdrawn.sql"
LEFT_WAITING = "src/store/postgres/sql/migration/0029_left_waiting.sql"
SQLITE_ACTIONS = "src/store/sqlite/sql/migration/0005_operator_actions.sql"
PG = "src/store/postgres/"
BROKER = "src/broker/"
SQLITE = "src/store/sqlite/sql/query/"


def contract(name, guard, test, edits, store="postgres"):
    control = CONTROLS["contract_test"].replace("/postgres", "/" + store)
    return Mutant(name, guard, "contract_test", f"Stores/{test}/{store}", edits, control)


def integration(name, guard, test, *edits, outcome="red"):
    return Mutant(name, guard, "postgres_integration_test", test, edits, outcome=outcome)


def interleaved(name, guard, test, *edits, control="CrashOfAPublisher", orders=""):
    return Mutant(name, guard, "interleaving_test", "Interleaving." + test, edits, "Interleaving." + control, orders=orders)


def brokered(name, guard, test, *edits):
    return Mutant(name, guard, "broker_test", test, edits)


def relayed(name, guard, test, *edits, outcome="red"):
    return Mutant(name, guard, "relay_test", f"Brokers/RelayTest.{test}/nats", edits, CONTROLS["relay_test"], outcome)
