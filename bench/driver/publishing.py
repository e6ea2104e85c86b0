"""Publishing to PostgreSQL: one event per commit, with and without workers beside it, and in batches."""
from contextlib import ExitStack

from driver.database import Database
from driver.figures import at_least, in_turn, versus
from driver.programs import Companion

SESSIONS = 8
LIVE_WORKERS = 3

PGBENCH_INSERT = """insert into core.outbox (event_type, source, target, channel, generation, payload, idempotency_key)
values ('bench.order.placed', 'bench', 'billing', 'outbox_gen_1', 1,
        jsonb_build_object('order_id', (random() * 100000000)::int) || '{"customer": "c-1742", "currency": "EUR", "total": "129.90", "lines": [{"sku": "A-100", "quantity": 2}, {"sku": "B-220", "quantity": 1}], "note": "leave it with the neighbour"}',
        gen_random_uuid()::text);
"""


def raw_insert(seconds, trigger):
    """pgbench, the same INSERT from as many sessions."""
    with Database() as database:
        if not trigger:
            database.sql("alter table core.outbox disable trigger outbox_notify")
        return database.pgbench(PGBENCH_INSERT, SESSIONS, seconds)


def raw_batch(events):
    """libpq alone, multi-row INSERTs of the same rows as text."""
    with Database() as database:
        return database.rate("raw-batch", events=events, size=1000, sessions=2)


def publish_single(scale):
    """8 sessions, one event per commit, nobody consumes; against pgbench with the same INSERT."""
    def ours(mode):
        def side():
            with Database(doorbell=mode) as database:
                return database.rate("publish-single", sessions=SESSIONS, milliseconds=scale.seconds * 1000)
        return side

    always, idle, with_trigger, without = in_turn(
        scale.rounds, ours("always"), ours("when-idle"), lambda: raw_insert(scale.seconds, True), lambda: raw_insert(scale.seconds, False))
    yield versus("publish-single (doorbell always)", "commits/s", always, "INSERT with the row trigger", with_trigger)
    yield versus("publish-single (doorbell when-idle)", "commits/s", idle, "INSERT without trigger", without, at_least(0.85))


def publish_live(scale):
    """8 sessions, one event per commit, while 3 worker processes consume; doorbell when-idle against always."""
    def live(mode):
        def side():
            with Database(doorbell=mode) as database, ExitStack() as beside:
                for _ in range(LIVE_WORKERS):
                    beside.enter_context(Companion("consume", dsn=database.url))
                return database.rate("publish-single", sessions=SESSIONS, milliseconds=scale.seconds * 1000)
        return side

    idle, always = in_turn(scale.rounds, live("when-idle"), live("always"))
    yield versus("publish-live", "commits/s", idle, "doorbell always, the same workers", always, at_least(3))


def publish_batch(scale):
    """1000 events per call, 2 sessions; against a raw multi-row INSERT of the same rows."""
    def ours():
        with Database() as database:
            return database.rate("publish-batch", events=scale.events, size=1000, sessions=2)

    mine, raw = in_turn(scale.rounds, ours, lambda: raw_batch(scale.events))
    yield versus("publish-batch", "events/s", mine, "raw multi-row INSERT", raw, at_least(0.9))
