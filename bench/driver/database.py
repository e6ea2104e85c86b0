"""Databases of the server that bench/run started, and the states that the benchmarks put them in."""
import os
import subprocess
import tempfile
import time
from contextlib import contextmanager

from driver.programs import SLUICE, BenchFailed, Companion, measured, output_of

BIN = os.environ.get("SLUICE_TEST_POSTGRES_BIN", "")
SERVER = os.environ.get("SLUICE_TEST_POSTGRES", "")

HISTORY = """alter table core.outbox disable trigger user;
insert into core.outbox (event_type, source, target, channel, generation, payload, idempotency_key, status, claim_seq, claimed_at,
                         claimed_by, delivered_at)
select 'bench.order.placed', 'bench', 'billing', 'outbox_gen_1', 1, '{{"order_id": 1}}', gen_random_uuid()::text, 'delivered', 1,
       now(), 'bench', now()
from generate_series(1, {rows}) i;
alter table core.outbox enable trigger user"""

# The oldest partition, which was the table, is empty here; months take its place, up to where the next one begins.
MONTHS = """do $$
declare
    v_old record;
begin
    select p.name, p.until into v_old from core.partitions() p where p.since is null and not p.is_default;
    execute format('drop table core.%I', v_old.name);
    perform core.partition_add(m, m + interval '1 month')
    from generate_series(date_trunc('month', now(), 'UTC') - interval '{back} months', v_old.until - interval '1 day', interval '1 month') m;
end $$"""

DEAD_LETTERS = """alter table core.outbox disable trigger outbox_notify;
insert into core.outbox (event_type, source, target, channel, generation, payload, idempotency_key, status, attempts, claim_seq,
                         claimed_at, failed_at, first_failed_at, last_error, failure_class, fingerprint)
select 'orders.' || (array['created', 'paid', 'shipped', 'returned'])[1 + i % 4], 'shop', (array['billing', 'mail', null])[1 + i % 3],
       'outbox_gen_1', 1 + i % 2, jsonb_build_object('order_id', i, 'note', repeat('x', 200)), i::text, 'failed', 5, 5,
       now() - i * interval '1 s', now() - i * interval '1 s', now() - i * interval '1 s',
       (array['TimeoutError: no answer', 'ConnectionError: refused', 'Error: boom'])[1 + i % 3] || i,
       (array['TimeoutError', 'ConnectionError', 'Error'])[1 + i % 3], left(md5((i % 3)::text), 16)
from generate_series(1, {rows}) i;
alter table core.outbox enable trigger outbox_notify"""


class Database:
    """A database of its own, migrated, gone when the block ends."""

    count = 0

    def __init__(self, migrate=True, doorbell=None, partitions=False):
        Database.count += 1
        self.name = f"bench_{os.getpid()}_{Database.count}"
        self.url = SERVER.rsplit("/", 1)[0] + "/" + self.name
        self._migrate = migrate
        self._doorbell = doorbell
        self._partitions = partitions

    def __enter__(self):
        if not SERVER:
            raise BenchFailed("there is no PostgreSQL server; ./run bench starts one")
        output_of([f"{BIN}/psql", SERVER, "-qc", f"create database {self.name}"])
        if self._migrate:
            output_of([SLUICE, "db", "migrate", "--store", self.url])
        if self._doorbell:
            output_of([SLUICE, "db", "doorbell", self._doorbell, "--store", self.url])
        if self._partitions:
            output_of([SLUICE, "ladder", "partition", "--store", self.url])
        return self

    def __exit__(self, *_):
        output_of([f"{BIN}/psql", SERVER, "-qc", f"drop database {self.name} with (force)"])

    def sql(self, text):
        return output_of([f"{BIN}/psql", self.url, "-AtqX", "-v", "ON_ERROR_STOP=1", "-c", text]).strip()

    def measure(self, name, **options):
        return measured(name, dsn=self.url, **options)

    def rate(self, name, **options):
        return self.measure(name, **options)["value"]

    def pgbench(self, script, clients, seconds):
        text = output_of([f"{BIN}/pgbench", "-n", "-f", "-", "-c", str(clients), "-j", "2", "-T", str(seconds), "-M", "prepared",
                          self.url], input=script)
        for line in text.splitlines():
            if line.startswith("tps"):
                return float(line.split()[2])
        raise BenchFailed(f"pgbench printed no tps: {text}")

    def settle_down(self):
        """Nothing of what was just loaded is left for the measured side to clean or to flush."""
        self.sql("vacuum analyze core.outbox")
        self.sql("checkpoint")

    def keep_history(self, rows):
        """Delivered rows, passed by a worker that has been running: its cursor stands where they end."""
        self.sql(HISTORY.format(rows=rows))
        self.settle_down()
        newest = int(self.sql("select max(seq) from core.outbox"))
        self.rate("publish-batch", events=1000, size=1000, sessions=1)
        give_up = time.monotonic() + 300
        with Companion("consume", dsn=self.url):
            while int(self.sql("select coalesce(max(low), 0) from core.claim_cursors")) < newest:
                if time.monotonic() > give_up:
                    raise BenchFailed(f"no worker passed {rows:,} delivered rows within 300 seconds")
                time.sleep(0.05)

    def months_of_their_own(self, count):
        """A partition for each of so many months, this one the last, instead of one that holds all that is past."""
        self.sql("set timezone = 'UTC';" + MONTHS.format(back=count - 1))

    def bury(self, rows):
        """Dead letters of twelve kinds."""
        self.sql(DEAD_LETTERS.format(rows=rows))
        self.settle_down()


@contextmanager
def held_snapshot(database):
    """A session whose snapshot pins the clean-up horizon, like a dump or a forgotten transaction."""
    session = subprocess.Popen([f"{BIN}/psql", database.url, "-AtqX"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        session.stdin.write("begin isolation level repeatable read; select count(*) from core.deployments;\n")
        session.stdin.flush()
        session.stdout.readline()
        yield session
    finally:
        session.kill()
        session.wait()


@contextmanager
def embedded_file():
    """The path of a SQLite file that does not exist yet, in a directory that is gone when the block ends."""
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as folder:
        yield f"{folder}/bench.db"


@contextmanager
def postgres_store():
    with Database() as database:
        yield database.url


@contextmanager
def sqlite_store():
    with embedded_file() as file:
        store = f"sqlite:{file}"
        output_of([SLUICE, "db", "migrate", "--store", store])
        yield store


STORES = {"postgres": postgres_store, "sqlite": sqlite_store}
