"""Draining a backlog, and how soon one event is handled."""
from driver import peers, programs
from driver.database import Database, held_snapshot
from driver.figures import at_least, at_most, in_turn, versus
from driver.processor import ProcessorTime
from driver.programs import SLUICE_BENCH, BenchFailed, output_of

MONTHS = 4    # that a backlog is spread over: events are kept for 45 + 7 days, and a month goes when all of it may


def own_drain(events, **options):
    with Database() as database:
        return database.rate("drain", events=events, **options)


def drain(scale):
    """A backlog, an idempotent handler that does nothing, 2 workers; against graphile-worker."""
    peers.install()
    ours, theirs = in_turn(scale.rounds, lambda: own_drain(scale.events), lambda: peers.graphile_drain(scale.events))
    yield versus("drain", "events/s", ours, "graphile-worker", theirs, at_least(3.3))


def drain_once(scale):
    """The same with an exactly-once batch handler: dedup rows, synchronous commit."""
    peers.install()
    ours, theirs = in_turn(scale.rounds, lambda: own_drain(scale.events, once=1), lambda: peers.graphile_drain(scale.events))
    yield versus("drain-once", "events/s", ours, "graphile-worker", theirs, at_least(1.8))


def drain_pinned(scale):
    """A drain after an old snapshot has been held open for a while, with other drains going on; against own drain."""
    def pinned():
        with Database() as database, held_snapshot(database):
            spent = 0
            while spent < scale.pinned_seconds:
                spent += scale.events / database.rate("drain", events=scale.events)
            return database.rate("drain", events=scale.events)

    ours, base = in_turn(scale.rounds, pinned, lambda: own_drain(scale.events))
    yield versus("drain-pinned", "events/s", ours, "own drain", base, at_least(0.85))


def drain_history(scale):
    """A drain in a table that keeps millions of delivered rows; against own drain."""
    def history():
        with Database() as database:
            database.keep_history(scale.history)
            return database.rate("drain", events=scale.events)

    ours, base = in_turn(scale.rounds, history, lambda: own_drain(scale.events))
    yield versus(f"drain-history ({scale.history:,} rows kept)", "events/s", ours, "own drain", base, at_least(0.9))


def drain_partitions(scale):
    """A backlog of the last four months in partitions, month by month and each event in another one; against own drain."""
    def drained(database, **options):
        flags = {"dsn": database.url, "events": scale.events}
        output_of([SLUICE_BENCH, "drain", *programs.flags(flags | options | {"drain": 0})])
        with ProcessorTime() as used:
            rate = database.rate("drain", events=scale.events, fill=0)
        return rate, used.seconds * 1e6 / scale.events

    def plain():
        with Database() as database:
            return drained(database)

    def months(mixed):
        def side():
            with Database(partitions=True) as database:
                database.months_of_their_own(MONTHS)
                figures = drained(database, months=MONTHS, mixed=int(mixed))
                held = database.sql("select count(distinct tableoid) from core.outbox")
                if held != str(MONTHS):
                    raise BenchFailed(f"the backlog lay on {held} partitions instead of {MONTHS}")
                return figures
        return side

    *sides, base = in_turn(scale.rounds, months(False), months(True), plain)
    for label, ours in zip(("month by month", "mixed"), sides):
        for name, unit, at, goal in (("drain-partitions", "events/s", 0, at_least(0.9)), ("drain-partitions, processor", "µs/event", 1, None)):
            yield versus(f"{name} ({label})", unit, [one[at] for one in ours], "own drain", [one[at] for one in base], goal)


def drain_processes(scale):
    """1, 2 and 4 worker processes of one thread over one backlog; against one process with as many threads."""
    # Of three times the events: four processes that start at once on two cores take a tenth of a second for it.
    def side(**options):
        def run():
            with Database() as database:
                return database.rate("drain-processes", events=3 * scale.events, **options)
        return run

    for count in (1, 2, 4):
        ours, base = in_turn(scale.rounds, side(processes=count, workers=1), side(processes=1, workers=count))
        yield versus(f"drain-processes ({count})", "events/s", ours, "threads of one process", base, at_least(0.9))


def drain_keyed(scale):
    """A backlog of which every second event has one of 1,000 ordering keys; against own drain."""
    ours, base = in_turn(scale.rounds, lambda: own_drain(scale.events, keys=1000), lambda: own_drain(scale.events))
    yield versus("drain-keyed", "events/s", ours, "own drain", base)


def latency(scale):
    """From the return of the commit to the entry of the handler, idle system, p50 and p99; against graphile-worker."""
    peers.install()

    def ours(mode):
        def side():
            with Database(doorbell=mode) as database:
                return database.measure("latency", events=scale.latencies)["detail"]
        return side

    always, idle, theirs = in_turn(scale.rounds, ours("always"), ours("when-idle"), lambda: peers.graphile_latency(scale.latencies))
    for label, side in (("always", always), ("when-idle", idle)):
        for part in ("p50", "p99"):
            yield versus(f"latency {part} (doorbell {label})", "ms", [one[part] for one in side], "graphile-worker",
                         [one[part] for one in theirs], at_most(0.7))
