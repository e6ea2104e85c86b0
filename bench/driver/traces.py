"""What tracing and the attempt log cost: the same work without and with them, in time and in processor time."""
import socket
import time
from contextlib import ExitStack, contextmanager

from driver.daemon import Daemon, Receiver
from driver.database import Database
from driver.figures import at_least, at_most, in_turn, versus
from driver.processor import ProcessorTime
from driver.serving import delivered_to

SESSIONS = 8
SHORTEST = 10_000  # events of a round
MOST_PARTS = 4     # rounds that each of the scale's is cut into: the more often the sides change, the less the machine's moods weigh

AIMED_AT = ("off", "on at 1 %")  # sides with a goal

TO_LOG = """worker.record_successes = {recorded}

[subscriptions."bench.log"]
events = ["bench.*"]
sink = "log"
"""


@contextmanager
def dead_collector():
    """Takes connections and never answers."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        yield f"http://127.0.0.1:{silent.getsockname()[1]}"


def parts(scale):
    """(rounds, events of one)"""
    count = max(1, min(MOST_PARTS, scale.events // SHORTEST))
    return scale.rounds * count, scale.events // count


def figures(name, unit, measured, floor=None, ceiling=None):
    """`measured`: name of the side → its (rate, processor µs per event) per round; the first one is what the others are against."""
    (base_name, base), *sides = measured.items()
    for label, rounds in sides:
        for what, of, goal, at in ((name, unit, floor, 0), (f"{name}, processor", "µs/event", ceiling, 1)):
            yield versus(f"{what} ({label})", of, [one[at] for one in rounds], base_name, [one[at] for one in base],
                         goal if label in AIMED_AT else None)


def traces(scale):
    """A drain and single publishes, traces off, on at 1 %, on, on to a dead collector; a drain with successes in the attempt log."""
    rounds, events = parts(scale)
    with ExitStack() as stack:
        collector, dead = stack.enter_context(Receiver()).url, stack.enter_context(dead_collector())
        sides = {"traces off": {}, "off": {}, "on at 1 %": {"collector": collector, "sampled": 1}, "on": {"collector": collector},
                 "on, dead collector": {"collector": dead}}
        for name, unit, measure in (("drain", "events/s", drained), ("publish-single", "commits/s", published)):
            measured = dict(zip(sides, in_turn(rounds, *(side(measure, options, scale, events) for options in sides.values()))))
            yield from figures(f"traces, {name}", unit, measured, at_least(0.95), at_most(1.05))
    sides = {"record_successes off": "false", "record_successes on": "true"}
    measured = dict(zip(sides, in_turn(rounds, *(side(logged, recorded, scale, events) for recorded in sides.values()))))
    yield from figures("attempt log, drain", "events/s", measured)


def side(measure, options, scale, events):
    return lambda: measure(options, scale, events)


def drained(options, _, events):
    with Database() as database:
        fill(database, events)
        with ProcessorTime() as processor:
            rate = database.rate("drain", events=events, fill=0, **options)
        return rate, processor.seconds / events * 1e6


def published(options, scale, _):
    with Database() as database:
        database.settle_down()
        with ProcessorTime() as processor:
            rate = database.rate("publish-single", sessions=SESSIONS, milliseconds=scale.seconds * 1000, **options)
        return rate, processor.seconds / int(database.sql("select count(*) from core.outbox")) * 1e6


def logged(recorded, _, events):
    """By the daemon: the library has no attempt log of its own to turn on."""
    with Database() as database:
        fill(database, events)
        with ProcessorTime() as processor:
            with Daemon(database.url, TO_LOG.format(recorded=recorded), "--batch", "500") as daemon:
                while delivered_to(daemon, "log") < events:
                    time.sleep(0.02)
                rate = events / (time.monotonic() - daemon.ready_at)
        return rate, processor.seconds / events * 1e6


def fill(database, events):
    database.rate("publish-batch", events=events, size=1000, sessions=2)
    database.settle_down()
