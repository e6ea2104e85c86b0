"""What may grow, and what is measured at each point of it."""
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Callable

from driver.database import Database, held_snapshot
from driver.figures import in_turn
from driver.programs import Companion
from driver.publishing import SESSIONS


@dataclass(frozen=True)
class GrowthScale:
    rounds: int = 2
    events: int = 50_000            # per drain
    claimed: int = 10_000           # events whose claims are timed, a hundred per claim
    handled: int = 20_000           # events per drain by several handlers
    seconds: int = 3                # of publishing
    rows_kept: tuple = (0, 100_000, 1_000_000, 5_000_000)
    snapshot_seconds: tuple = (0, 5, 15, 30)
    workers: tuple = (1, 2, 4, 8, 16)
    listeners: tuple = (1, 10, 30, 100)
    handlers: tuple = (1, 2, 5, 10)


FULL = GrowthScale()
QUICK = GrowthScale(rounds=1, events=5_000, claimed=1_000, handled=1_000, seconds=1, rows_kept=(0, 20_000), snapshot_seconds=(0, 1),
                    workers=(1, 2), listeners=(1, 20), handlers=(1, 3))


def median_drain(database, scale, **options):
    figures, = in_turn(scale.rounds, lambda: database.rate("drain", **({"events": scale.events} | options)))
    return sorted(figures)[len(figures) // 2]


def drain_and_claims(database, scale, workers=2):
    claims = database.measure("claim-latency", events=scale.claimed, workers=workers)["detail"]
    return {"drain": median_drain(database, scale, workers=workers), "claim p50": claims["claim_p50"], "claim p99": claims["claim_p99"]}


def rows_kept(scale):
    """Delivered rows that stay in the table."""
    with Database() as database:
        kept = 0
        for rows in scale.rows_kept:
            if rows > kept:
                database.keep_history(rows - kept)
                kept = rows
            yield rows, drain_and_claims(database, scale)


def snapshot_age(scale):
    """How long a snapshot has been held open while draining goes on."""
    with Database() as database, held_snapshot(database):
        begin = time.monotonic()
        for age in scale.snapshot_seconds:
            while time.monotonic() - begin < age:
                database.rate("drain", events=scale.events)
            yield age, drain_and_claims(database, scale)


def workers(scale):
    """Threads that claim and settle, each with a connection."""
    for count in scale.workers:
        with Database() as database:
            yield count, drain_and_claims(database, scale, count)


def listeners(scale):
    """Connections that LISTEN: a worker, and others that only hear."""
    for count in scale.listeners:
        figures = {}
        for mode in ("always", "when-idle"):
            with Database(doorbell=mode) as database, ExitStack() as beside:
                beside.enter_context(Companion("consume", dsn=database.url))
                beside.enter_context(Companion("idle-listeners", dsn=database.url, count=count - 1))
                figures[f"publish ({mode})"] = database.rate("publish-single", sessions=SESSIONS, milliseconds=scale.seconds * 1000)
        with Database() as database, Companion("idle-listeners", dsn=database.url, count=count):
            figures["drain"] = median_drain(database, scale)
        yield count, figures


def handlers(scale):
    """Handlers that each have to handle every event."""
    for count in scale.handlers:
        with Database() as database:
            events = median_drain(database, scale, events=scale.handled, handlers=count)
            yield count, {"drain": events, "handler calls": events * count}


@dataclass(frozen=True)
class Sweep:
    measure: Callable           # (scale) → (x, {series: value})
    axis: str                   # what grows, with its unit


SWEEPS = {
    "rows-kept": Sweep(rows_kept, "delivered rows kept"),
    "snapshot-age": Sweep(snapshot_age, "age of a held snapshot, seconds"),
    "workers": Sweep(workers, "worker threads"),
    "listeners": Sweep(listeners, "LISTEN connections"),
    "handlers": Sweep(handlers, "handlers per event"),
}

UNITS = {"drain": "events/s", "claim p50": "ms", "claim p99": "ms", "publish (always)": "commits/s", "publish (when-idle)": "commits/s",
         "handler calls": "calls/s"}
