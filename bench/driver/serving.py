"""The daemon: what comes in, what goes out, how soon it is there and how much memory it holds."""
import time

from driver.daemon import NOBODY, TO_RECEIVER, Daemon, Receiver, milliseconds_to_ready, wrk
from driver.database import STORES, Database, embedded_file
from driver.figures import alone, at_least, in_turn, value_at_most, versus
from driver.programs import BenchFailed, measured

CALLERS = 32


def ingest(scale):
    """POST /v1/events one by one from 32 connections, nobody consumes; against 32 callers of the store's own publish."""
    def over_http(store):
        with Daemon(store, NOBODY) as daemon:
            return wrk(daemon.url + "v1/events", CALLERS, scale.seconds)

    def direct(store):
        return measured("publish-single", dsn=store, sessions=CALLERS, milliseconds=scale.seconds * 1000)["value"]

    def on(opened, side):
        def run():
            with opened() as store:
                return side(store)
        return run

    for kind, opened in STORES.items():
        ours, theirs = in_turn(scale.rounds, on(opened, over_http), on(opened, direct))
        yield versus(f"ingest ({kind})", "events/s", ours, f"the store's own publish, {CALLERS} callers", theirs, at_least(0.7))


def delivered_to(daemon, sink):
    """How many deliveries the sink has made; one that failed ends the measurement."""
    state = next(one for one in daemon.get("v1/sinks")["sinks"] if one["name"] == sink)
    if state["failed"]:
        raise BenchFailed(f"deliveries failed: {state['last_error']}")
    return state["delivered"]


def http_sink(scale):
    """A backlog to one local receiver, keep-alive; against wrk with a body of that size and as many connections."""
    with Receiver() as receiver:
        def ours():
            with Database() as database:
                database.rate("publish-batch", events=scale.deliveries, size=1000, sessions=2)
                with Daemon(database.url, TO_RECEIVER.format(url=receiver.url), "--batch", "500") as daemon:
                    while delivered_to(daemon, "bench") < scale.deliveries:
                        time.sleep(0.02)
                    return scale.deliveries / (time.monotonic() - daemon.ready_at)

        mine, other = in_turn(scale.rounds, ours, lambda: wrk(receiver.url, 64, scale.seconds))
        yield versus("http-sink", "deliveries/s", mine, "wrk, the same body and receiver", other, at_least(0.8))


def start(scale):
    """From the start of the process to the first 200 of /readyz; on SQLite the file is made as well."""
    def on_sqlite():
        with embedded_file() as file:
            return milliseconds_to_ready(f"sqlite:{file}")

    with Database() as database:
        sqlite, postgres = in_turn(scale.repeats, on_sqlite, lambda: milliseconds_to_ready(database.url))
    yield alone("start (sqlite)", "ms", sqlite, value_at_most(150))
    yield alone("start (postgres)", "ms", postgres, value_at_most(150))


def memory(scale):
    """The most that was resident with 1M pending rows, while an operator looks on: nobody consumes; a sink delivers."""
    with Receiver() as receiver:
        for kind, opened in STORES.items():
            with opened() as store:
                measured("publish-batch", dsn=store, events=scale.pending, size=1000, sessions=1)
                for doing, configuration in (("holding", NOBODY), ("delivering", TO_RECEIVER.format(url=receiver.url))):
                    peak = peak_while_serving(store, configuration, scale.watched)
                    yield alone(f"memory, {doing} {scale.pending:,} pending ({kind})", "MiB", [peak], value_at_most(64))


def peak_while_serving(store, configuration, seconds):
    with Daemon(store, configuration) as daemon:
        while time.monotonic() - daemon.ready_at < seconds:
            for path in ("v1/overview", "v1/status", "v1/events?limit=200"):
                daemon.get(path)
            time.sleep(0.1)
        return daemon.peak_mib()
