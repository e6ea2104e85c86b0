"""One SQLite file: publishing and draining, against the plain statements in a loop."""
from driver.database import embedded_file
from driver.figures import alone, at_least, in_turn, versus
from driver.programs import measured

CALLERS = 8


def rate(name, **options):
    """One measurement on a fresh file."""
    def side():
        with embedded_file() as file:
            return measured(name, file=file, **options)["value"]
    return side


def sqlite_publish(scale):
    """One event per commit, by one caller and by 8 at once; against INSERTs on one connection."""
    spent = {"milliseconds": scale.seconds * 1000}
    one, many, raw = in_turn(scale.rounds, rate("sqlite-publish", sessions=1, **spent), rate("sqlite-publish", sessions=CALLERS, **spent),
                             rate("sqlite-raw-publish", sessions=1, **spent))
    yield versus("sqlite-publish (1 caller)", "commits/s", one, "raw INSERTs, 1 connection", raw, at_least(0.8))
    yield versus(f"sqlite-publish ({CALLERS} callers)", "commits/s", many, "raw INSERTs, 1 connection", raw, at_least(0.8))


def sqlite_drain(scale):
    """A backlog, batches of 100, an idempotent handler that does nothing; against raw UPDATEs that claim and settle."""
    ours, raw = in_turn(scale.rounds, rate("sqlite-drain", events=scale.embedded, batch=100),
                        rate("sqlite-raw-drain", events=scale.embedded, batch=100))
    yield versus("sqlite-drain", "events/s", ours, "raw UPDATEs, 1 connection", raw, at_least(0.8))


def raw_sqlite(scale):
    """SQLite without Sluice: INSERTs one per commit by 1 and by 8 connections, and claim and settle of 100."""
    spent = {"milliseconds": scale.seconds * 1000}
    one, many, drained = in_turn(scale.rounds, rate("sqlite-raw-publish", sessions=1, **spent),
                                 rate("sqlite-raw-publish", sessions=CALLERS, **spent),
                                 rate("sqlite-raw-drain", events=scale.embedded, batch=100))
    yield alone("SQLite INSERT, 1 connection", "commits/s", one)
    yield alone(f"SQLite INSERT, {CALLERS} connections", "commits/s", many)
    yield alone("SQLite claim 100 and settle", "rows/s", drained)
