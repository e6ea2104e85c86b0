"""What the rules do not allow and is there. Nothing may be added; an entry that is no longer needed is an error."""

# (file, header): why.
INCLUDES = {
    ("src/ops/webhook.cpp", "config/declared.hpp"): "a webhook source is the type that the configuration declares",
    ("src/ops/webhook.hpp", "config/declared.hpp"): "the same",
    ("src/telemetry/metrics_set_test.cpp", "tests/cli/golden.hpp"): "the reader of golden files stands in tests/cli",
}

# Lines of a file, or of a function in it, rounded up to ten. They may get fewer.
LENGTHS = {
    "src/config/key_table.cpp table": 330,  # one entry per key
    "src/ops/doctor_test.cpp": 500,
    "src/store/postgres/sql/migration/0001_tables.sql": 410,
    "src/store/postgres/sql/migration/0002_rules.sql core.outbox_guard": 90,
    "src/store/postgres/sql/migration/0003_publish.sql core.outbox_publish": 100,
    "src/store/postgres/sql/migration/0006_claim.sql": 591,
    "src/store/postgres/sql/migration/0006_claim.sql core.claim_cursor_advance": 140,
    "src/store/postgres/sql/migration/0006_claim.sql core.outbox_claim": 244,
    "src/store/postgres/sql/migration/0006_claim.sql core.outbox_claim_stretch": 100,
    "src/store/postgres/sql/migration/0007_settle.sql core.outbox_settle": 110,
    "src/store/postgres/sql/migration/0012_patrol.sql core.patrol_step": 120,
    "src/store/postgres/sql/migration/0025_rescan.sql core.claim_cursor_advance": 150,  # as in 0006
    "src/store/postgres/sql/migration/0026_plans.sql": 460,  # as in 0005, 0006 and 0007
    "src/store/postgres/sql/migration/0026_plans.sql core.outbox_claim": 260,
    "src/store/postgres/sql/migration/0028_withdrawn.sql core.outbox_settle": 110,  # as in 0007
    "src/store/postgres/sql/migration/0029_left_waiting.sql core.patrol_step": 120,  # as in 0012
    "tests/cli/golden_json_test.cpp GoldenJson.OfEveryCommand": 100,  # one line per command
    "tests/contract/triage_test.cpp": 420,
}

# Sleeps of a test file: how many, and why.
SLEEPS = {
    "tests/chaos/backlog_starts.py": (1, "polls what workers in other processes have delivered"),
    "tests/chaos/crew.py": (1, "a pause before a program starts again whose server is away"),
    "tests/chaos/late_commits.py": (3, "polls what workers have delivered; holds transactions open for a time"),
    "tests/chaos/publisher.cpp": (4, "load at a rate, and transactions that stay open, are made of time"),
    "tests/chaos/brokers.py": (1, "polls servers that elect a leader"),
    "tests/chaos/relay.py": (1, "polls what workers in other processes have booked"),
    "tests/chaos/round.py": (1, "faults are spread over the time of a round"),
    "tests/chaos/sabotage.py": (2, "polls what a worker has delivered and where its marks are"),
    "tests/chaos/stores.py": (1, "polls a crashed server until it answers"),
    "tests/chaos/worker.cpp": (1, "a handler that outlasts its claim takes time"),
    "tests/support/polling.py": (1, "polls what other processes have done, and leaves them the processor between two questions"),
}
