"""Deliveries through a broker: a server of its own per measurement, in a folder that is gone afterwards."""
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager

from driver.daemon import free_port
from driver.database import Database
from driver.delivery import own_drain
from driver.figures import at_least, in_turn, versus
from driver.programs import BenchFailed, measured


@contextmanager
def server(kind):
    """The URL of a broker with the settings that lose nothing when its process is killed."""
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as folder:
        port = free_port()
        command = (["nats-server", "-js", "-sd", folder, "-a", "127.0.0.1", "-p", str(port)] if kind == "nats" else
                   ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "yes",
                    "--appendfsync", "always"])
        try:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except FileNotFoundError as error:
            raise BenchFailed(f"{command[0]} is missing; ./run bench installs it") from error
        try:
            await_port(port, command[0])
            yield f"{kind}://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def await_port(port, name):
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise BenchFailed(f"{name} did not start")


def through(kind, name, events, **options):
    """A rate of Sluice's, with a database and a broker of its own."""
    def side():
        with server(kind) as url, Database() as database:
            return database.rate(name, broker=url, events=events, **options)
    return side


def raw(kind, name, events):
    """A rate of the broker's own client."""
    def side():
        with server(kind) as url:
            return measured(name, broker=url, events=events)["value"]
    return side


def relay(kind, scale):
    ours, client, drained = in_turn(scale.rounds, through(kind, "relay", scale.events), raw(kind, "raw-relay", scale.events),
                                    lambda: own_drain(scale.events))
    sides = (versus(f"relay-{kind}", "events/s", ours, "raw client", client, at_least(0.8)),
             versus(f"relay-{kind}", "events/s", ours, "own drain", drained, at_least(0.8)))
    # The smaller of the two is what it can reach.
    yield min(sides, key=lambda figure: figure.against_value)
    yield max(sides, key=lambda figure: figure.against_value)


def relay_nats(scale):
    """A backlog published to JetStream, a row settled when its answer is there; against async publish and own drain."""
    return relay("nats", scale)


def relay_redis(scale):
    """The same to Redis Streams with appendfsync always; against pipelined XADD and own drain."""
    return relay("redis", scale)


def broker_consume(scale):
    """A backlog in the broker, an idempotent handler that does nothing; against a raw consumer that acknowledges."""
    for kind in ("nats", "redis"):
        ours, base = in_turn(scale.rounds, through(kind, "broker-consume", scale.events), raw(kind, "raw-consume", scale.events))
        yield versus(f"broker-consume {kind}", "events/s", ours, "raw consumer", base)


def latency_broker(scale):
    """From the return of the commit to the entry of the handler, through the relay and a broker; against LISTEN/NOTIFY."""
    def direct():
        with Database() as database:
            return database.measure("latency", events=scale.latencies)["detail"]

    def brokered(kind):
        def side():
            with server(kind) as url, Database() as database:
                return database.measure("latency", broker=url, events=scale.latencies)["detail"]
        return side

    nats, redis, base = in_turn(scale.rounds, brokered("nats"), brokered("redis"), direct)
    for label, side in (("nats", nats), ("redis", redis)):
        for part in ("p50", "p99"):
            yield versus(f"latency-broker {label} {part}", "ms", [one[part] for one in side], "LISTEN/NOTIFY",
                         [one[part] for one in base])
