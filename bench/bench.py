"""The driver of ./run bench: databases, peers, rounds, medians and the table.

Each figure that counts is a ratio: both sides run in turn, on the same server, in the same run.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import serving

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("SLUICE_BUILD_DIR", HERE.parent / "build"))
BIN = os.environ.get("SLUICE_TEST_POSTGRES_BIN", "")
SERVER = os.environ.get("SLUICE_TEST_POSTGRES", "")
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sluice" / "bench-peers"

PGBENCH_INSERT = """insert into core.outbox (event_type, source, target, channel, generation, payload, idempotency_key)
values ('bench.order.placed', 'bench', 'billing', 'outbox_gen_1', 1,
        jsonb_build_object('order_id', (random() * 100000000)::int) || '{"customer": "c-1742", "currency": "EUR", "total": "129.90", "lines": [{"sku": "A-100", "quantity": 2}, {"sku": "B-220", "quantity": 1}], "note": "leave it with the neighbour"}',
        gen_random_uuid()::text);
"""


class BenchFailed(Exception):
    pass


def say(text):
    print(f"    {text}", file=sys.stderr, flush=True)


def output_of(command, **kwargs):
    done = subprocess.run(command, capture_output=True, text=True, **kwargs)
    if done.returncode != 0:
        raise BenchFailed(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


class Database:
    """A database of its own, migrated, gone when the block ends."""

    count = 0

    def __init__(self, migrate=True):
        Database.count += 1
        self.name = f"bench_{os.getpid()}_{Database.count}"
        self.url = SERVER.rsplit("/", 1)[0] + "/" + self.name
        self.migrate = migrate

    def __enter__(self):
        output_of([f"{BIN}/psql", SERVER, "-qc", f"create database {self.name}"])
        if self.migrate:
            output_of([BUILD / "sluice", "db", "migrate", "--store", self.url])
        return self

    def __exit__(self, *_):
        output_of([f"{BIN}/psql", SERVER, "-qc", f"drop database {self.name} with (force)"])

    def sql(self, text):
        return output_of([f"{BIN}/psql", self.url, "-AtqX", "-v", "ON_ERROR_STOP=1", "-c", text]).strip()

    def measure(self, name, **options):
        flags = [part for key, value in options.items() for part in (f"--{key}", str(value))]
        return json.loads(output_of([BUILD / "sluice_bench", name, "--dsn", self.url, *flags]))

    def bench(self, name, **options):
        return self.measure(name, **options)["value"]

    def doorbell(self, mode):
        output_of([BUILD / "sluice", "db", "doorbell", mode, "--store", self.url])

    def pgbench(self, script, clients, seconds):
        text = output_of([f"{BIN}/pgbench", "-n", "-f", "-", "-c", str(clients), "-j", "2", "-T", str(seconds), "-M", "prepared",
                          self.url], input=script)
        for line in text.splitlines():
            if line.startswith("tps"):
                return float(line.split()[2])
        raise BenchFailed(f"pgbench printed no tps: {text}")


def held_snapshot(database):
    """A session whose snapshot pins the clean-up horizon, like a dump or a forgotten transaction."""
    session = subprocess.Popen([f"{BIN}/psql", database.url, "-AtqX"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    session.stdin.write("begin isolation level repeatable read; select count(*) from core.deployments;\n")
    session.stdin.flush()
    session.stdout.readline()
    return session


def peers():
    """Installs the peers once, outside the repository."""
    wanted = (HERE / "peers" / "package.json").read_text()
    CACHE.mkdir(parents=True, exist_ok=True)
    if not (CACHE / "node_modules").is_dir() or not (CACHE / "package.json").exists() or (CACHE / "package.json").read_text() != wanted:
        say(f"installing the peers into {CACHE}")
        (CACHE / "package.json").write_text(wanted)
        output_of(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=CACHE)
    for script in (HERE / "peers").glob("*.mjs"):
        shutil.copy(script, CACHE / script.name)


def graphile(script, jobs):
    with Database(migrate=False) as database:
        text = output_of(["node", script, str(jobs)], cwd=CACHE, env={**os.environ, "DATABASE_URL": database.url})
    return json.loads(text.splitlines()[-1])


def graphile_drain(jobs):
    return graphile("graphile_drain.mjs", jobs)["value"]


def own_drain(events, **options):
    with Database() as database:
        return database.bench("drain", events=events, **options)


def in_turn(rounds, *sides):
    """Runs the sides alternately and returns the list of figures of each."""
    figures = [[] for _ in sides]
    for _ in range(rounds):
        for side, values in zip(sides, figures):
            values.append(side())
    return figures


def versus(name, unit, ours, against, other, goal):
    value, base = statistics.median(ours), statistics.median(other)
    spread = (max(ours) - min(ours)) / value * 100
    digits = 2 if unit == "ms" else None
    return {"bench": name, "value": round(value, digits), "unit": unit, "ratio": round(value / base, 2), "against": against,
            "against_value": round(base, digits), "goal": goal, "spread_percent": round(spread), "rounds": len(ours)}


def bench_drain(scale):
    peers()
    ours, theirs = in_turn(scale.rounds, lambda: own_drain(scale.events), lambda: graphile_drain(scale.events))
    yield versus("drain", "events/s", ours, "graphile-worker", theirs, 3.3)


def bench_drain_once(scale):
    peers()
    ours, theirs = in_turn(scale.rounds, lambda: own_drain(scale.events, once=1), lambda: graphile_drain(scale.events))
    yield versus("drain-once", "events/s", ours, "graphile-worker", theirs, 1.8)


def bench_drain_pinned(scale):
    def pinned():
        with Database() as database:
            session = held_snapshot(database)
            try:
                spent = 0
                while spent < scale.pinned_seconds:
                    spent += scale.events / database.bench("drain", events=scale.events)
                return database.bench("drain", events=scale.events)
            finally:
                session.kill()
                session.wait()

    ours, base = in_turn(scale.rounds, pinned, lambda: own_drain(scale.events))
    yield versus("drain-pinned", "events/s", ours, "own drain", base, 0.85)


def bench_drain_history(scale):
    def history():
        with Database() as database:
            database.sql("alter table core.outbox disable trigger user; insert into core.outbox (event_type, source, target, channel, generation, payload, "
                         "idempotency_key, status, claim_seq, claimed_at, claimed_by, delivered_at) select 'bench.order.placed', 'bench', "
                         "'billing', 'outbox_gen_1', 1, '{\"order_id\": 1}', i::text, 'delivered', 1, now(), 'bench', now() "
                         f"from generate_series(1, {scale.history}) i; alter table core.outbox enable trigger user")
            database.sql("vacuum analyze core.outbox")
            database.sql("checkpoint")
            # A worker that has been running: its cursor stands where the history ends.
            while int(database.sql("select coalesce(max(low), 0) from core.claim_cursors")) < scale.history:
                database.bench("drain", events=scale.events)
            return database.bench("drain", events=scale.events)

    ours, base = in_turn(scale.rounds, history, lambda: own_drain(scale.events))
    yield versus(f"drain-history ({scale.history:,} rows kept)", "events/s", ours, "own drain", base, 0.9)


def bench_publish_single(scale):
    def ours(mode):
        def side():
            with Database() as database:
                database.doorbell(mode)
                return database.bench("publish-single", sessions=8, milliseconds=scale.seconds * 1000)
        return side

    def raw(trigger):
        def side():
            with Database() as database:
                if not trigger:
                    database.sql("alter table core.outbox disable trigger outbox_notify")
                return database.pgbench(PGBENCH_INSERT, 8, scale.seconds)
        return side

    always, idle, with_trigger, without = in_turn(scale.rounds, ours("always"), ours("when-idle"), raw(True), raw(False))
    yield versus("publish-single (doorbell always)", "commits/s", always, "INSERT with the row trigger", with_trigger, None)
    yield versus("publish-single (doorbell when-idle)", "commits/s", idle, "INSERT without trigger", without, 0.85)


def bench_latency(scale):
    peers()

    def ours(mode):
        def side():
            with Database() as database:
                database.doorbell(mode)
                return database.measure("latency", events=scale.latencies)["detail"]
        return side

    figures = in_turn(scale.rounds, ours("always"), ours("when-idle"), lambda: graphile("graphile_latency.mjs", scale.latencies)["detail"])
    always, idle, theirs = figures
    for label, side in (("always", always), ("when-idle", idle)):
        for part in ("p50", "p99"):
            yield versus(f"latency {part} (doorbell {label})", "ms", [one[part] for one in side], "graphile-worker",
                         [one[part] for one in theirs], 0.7)


def bench_publish_batch(scale):
    def side(name):
        def measure():
            with Database() as database:
                return database.bench(name, events=scale.events, size=1000, sessions=2)
        return measure

    ours, raw = in_turn(scale.rounds, side("publish-batch"), side("raw-batch"))
    yield versus("publish-batch", "events/s", ours, "raw multi-row INSERT", raw, 0.9)


DEAD_LETTERS = """alter table core.outbox disable trigger outbox_notify;
insert into core.outbox (event_type, source, target, channel, generation, payload, idempotency_key, status, attempts, claim_seq,
                         claimed_at, failed_at, first_failed_at, last_error, failure_class, fingerprint)
select 'orders.' || (array['created', 'paid', 'shipped', 'returned'])[1 + i % 4], 'shop', (array['billing', 'mail', null])[1 + i % 3],
       'outbox_gen_1', 1 + i % 2, jsonb_build_object('order_id', i, 'note', repeat('x', 200)), i::text, 'failed', 5, 5,
       now() - i * interval '1 s', now() - i * interval '1 s', now() - i * interval '1 s',
       (array['TimeoutError: no answer', 'ConnectionError: refused', 'Error: boom'])[1 + i % 3] || i,
       (array['TimeoutError', 'ConnectionError', 'Error'])[1 + i % 3], 'fingerprint' || i % 3
from generate_series(1, {rows}) i;
alter table core.outbox enable trigger outbox_notify"""

# The runbook's own way to the same answers: over the table.
RUNBOOK_GROUPS = """select event_type, source, target, split_part(last_error, ':', 1) as error_class, count(*) from core.outbox
where status = 'failed' and deleted_at is null group by event_type, source, target, error_class order by count(*) desc"""
RUNBOOK_LIST = """select id, event_type, last_error, claimed_at from core.outbox where status = 'failed' and deleted_at is null
and split_part(last_error, ':', 1) = 'TimeoutError' order by claimed_at desc limit 50"""


def bench_dlq(scale):
    """Whole commands, start of the process included, against the runbook's statements over the same table."""
    with Database() as database:
        database.sql(DEAD_LETTERS.format(rows=scale.dead))
        database.sql("vacuum analyze core.outbox")

        def timed(command):
            begin = time.monotonic()
            output_of(command)
            return (time.monotonic() - begin) * 1000

        def sluice(*words):
            return lambda: timed([BUILD / "sluice", "dlq", *words, "--store", database.url, "-o", "json"])

        def runbook(statement):
            return lambda: timed([f"{BIN}/psql", database.url, "-AtqX", "-c", statement])

        for name, ours, theirs in (("dlq groups", sluice("groups"), runbook(RUNBOOK_GROUPS)),
                                   ("dlq list", sluice("list", "--class", "timeout"), runbook(RUNBOOK_LIST))):
            mine, other = in_turn(scale.repeats, ours, theirs)
            mine, other = (sorted(side)[round((len(side) - 1) * 0.95)] for side in (mine, other))
            yield {**versus(f"{name} p95 ({scale.dead:,} dead)", "ms", [mine], "the runbook's statement", [other], None),
                   "rounds": scale.repeats}


NOBODY = """[subscriptions."bench.nobody"]
events = ["elsewhere.*"]
sink = "log"
"""


def bench_ingest(scale):
    """POST /v1/events one by one from 32 connections, against 32 callers of the store's own publish; nobody consumes."""
    def over_http(store):
        with serving.Daemon(BUILD / "sluice", store, NOBODY) as daemon:
            rate, refused = serving.wrk(daemon.url + "v1/events", 32, scale.seconds)
            if refused:
                raise BenchFailed(f"{refused} requests were refused")
            return rate

    def direct(store):
        return json.loads(output_of([BUILD / "sluice_bench", "publish-single", "--dsn", store, "--sessions", "32", "--milliseconds",
                                     str(scale.seconds * 1000)]))["value"]

    def on_sqlite(side):
        def run():
            with tempfile.TemporaryDirectory() as folder:
                store = f"sqlite:{folder}/bench.db"
                output_of([BUILD / "sluice", "db", "migrate", "--store", store])
                return side(store)
        return run

    def on_postgres(side):
        def run():
            with Database() as database:
                return side(database.url)
        return run

    for kind, on in (("sqlite", on_sqlite), ("postgres", on_postgres)):
        ours, theirs = in_turn(scale.rounds, on(over_http), on(direct))
        yield versus(f"ingest ({kind})", "events/s", ours, "the store's own publish, 32 callers", theirs, 0.7)


def bench_http_sink(scale):
    """A backlog to one local receiver, keep-alive, against wrk with a body of the same size and as many connections."""
    configuration = """[sinks.bench]
kind = "http"
url = "{url}"
allow = ["127.0.0.1"]
secret = "whsec_c2x1aWNlLWRlbW8tc2VjcmV0LW5vdC1mb3ItdXNl"
concurrency = 64
breaker_failures = 10000

[subscriptions."bench.receiver"]
events = ["bench.*"]
sink = "bench"
"""
    with serving.Receiver(BUILD / "sluice_bench") as receiver:
        def ours():
            with Database() as database:
                database.bench("publish-batch", events=scale.deliveries, size=1000, sessions=2)
                with serving.Daemon(BUILD / "sluice", database.url, configuration.format(url=receiver.url), "--batch", "500") as daemon:
                    while True:
                        sink = next(one for one in daemon.get("v1/sinks")["sinks"] if one["name"] == "bench")
                        if sink["failed"]:
                            raise BenchFailed(f"deliveries failed: {sink['last_error']}")
                        if sink["delivered"] >= scale.deliveries:
                            return scale.deliveries / (time.monotonic() - daemon.ready_at)
                        time.sleep(0.02)

        def theirs():
            return serving.wrk(receiver.url, 64, scale.seconds)[0]

        mine, other = in_turn(scale.rounds, ours, theirs)
        yield versus("http-sink", "deliveries/s", mine, "wrk, the same body and receiver", other, 0.8)


BENCHES = {
    "dlq": bench_dlq,
    "drain": bench_drain,
    "drain-once": bench_drain_once,
    "drain-pinned": bench_drain_pinned,
    "drain-history": bench_drain_history,
    "http-sink": bench_http_sink,
    "ingest": bench_ingest,
    "latency": bench_latency,
    "publish-single": bench_publish_single,
    "publish-batch": bench_publish_batch,
}


class Scale:
    def __init__(self, quick, rounds):
        self.rounds = rounds or (1 if quick else 3)
        self.events = 20_000 if quick else 200_000
        self.history = 100_000 if quick else 5_000_000
        self.pinned_seconds = 2 if quick else 15
        self.seconds = 2 if quick else 5
        self.latencies = 200 if quick else 2_000
        self.deliveries = 2_000 if quick else 50_000
        self.dead = 20_000 if quick else 1_000_000
        self.repeats = 3 if quick else 20


def main():
    parser = argparse.ArgumentParser(prog="./run bench", description="Benchmarks; without a name, all of them.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    parser.add_argument("--quick", action="store_true", help="one small round each: shows that they run, not how fast")
    parser.add_argument("--json", action="store_true", help="one object per line")
    parser.add_argument("--rounds", type=int, help="rounds per side")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in BENCHES]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]}; there are: {', '.join(BENCHES)}")
    serving.clean_environment()
    scale = Scale(arguments.quick, arguments.rounds)
    version = output_of([f"{BIN}/postgres", "--version"]).strip()
    say(f"{version}, {os.cpu_count()} cores, {scale.rounds} round(s), {scale.events:,} events, default durability")
    failed = False
    if not arguments.json:
        print(f"{'bench':42} {'value':>10} {'unit':10} {'ratio':>6} {'goal':>6}  against")
    for name in arguments.names or BENCHES:
        try:
            for row in BENCHES[name](scale):
                if arguments.json:
                    print(json.dumps(row), flush=True)
                else:
                    goal = f"{row['goal']:.2f}" if row["goal"] else "-"
                    print(f"{row['bench']:42} {row['value']:>10,} {row['unit']:10} {row['ratio']:>6.2f} {goal:>6}  {row['against']} "
                          f"({row['against_value']:,}), spread {row['spread_percent']} %", flush=True)
        except (BenchFailed, RuntimeError) as error:
            failed = True
            print(f"{name}: could not run: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
