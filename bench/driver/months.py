"""Months: a table that becomes partitioned under load, and retention of a month by its partition, against deletes in batches."""
import os
import re
import time

from driver.database import Database
from driver.figures import in_turn, value_at_most, versus
from driver.programs import DELIVERY_TEST, SLUICE, BenchFailed, output_of

MONTH = """alter table core.outbox disable trigger user;
insert into core.outbox (event_type, source, target, channel, generation, payload, idempotency_key, status, claim_seq, claimed_at,
                         claimed_by, delivered_at, occurred_at, published_at)
select 'bench.order.placed', 'bench', 'billing', 'outbox_gen_1', 1, '{{"order_id": 1}}', gen_random_uuid()::text, 'delivered', 1,
       t.at, 'bench', t.at, t.at, t.at
from (select date_trunc('month', now()) - interval '4 months' + i * interval '1 second' as at from generate_series(1, {rows}) i) t;
alter table core.outbox enable trigger user"""

# The oldest partition, which was the table, is empty here; the month takes a part of its place.
A_MONTH_OF_ITS_OWN = """do $$ begin
execute (select 'drop table core.' || name from core.partitions() where since is null and not is_default);
perform core.partition_add(date_trunc('month', now()) - interval '4 months', date_trunc('month', now()) - interval '3 months');
end $$"""


def swept(database):
    """Seconds and bytes of WAL that `sluice retention sweep` takes."""
    database.settle_down()
    start, begin = database.sql("select pg_current_wal_lsn()"), time.monotonic()
    output_of([SLUICE, "retention", "sweep", "--store", database.url])
    seconds = time.monotonic() - begin
    return seconds, int(database.sql(f"select pg_current_wal_lsn() - '{start}'::pg_lsn").split(".")[0])


def one_by_one(rows):
    with Database() as database:
        database.sql(MONTH.format(rows=rows))
        tombstoned = swept(database)
        database.sql("alter table core.outbox disable trigger user; update core.outbox set deleted_at = now() - interval '8 days';"
                     "alter table core.outbox enable trigger user")
        deleted = swept(database)
        assert database.sql("select count(*) from core.outbox") == "0"
        return tombstoned[0] + deleted[0], (tombstoned[1] + deleted[1]) / 2**20


def at_once(rows):
    with Database(partitions=True) as database:
        database.sql(A_MONTH_OF_ITS_OWN)
        database.sql(MONTH.format(rows=rows))
        seconds, wal = swept(database)
        assert database.sql("select count(*) from core.outbox") == "0"
        return seconds, wal / 2**20


def retention_month(scale):
    """A month of delivered events: its partition dropped, seconds and WAL; against tombstones and deletes in batches."""
    ours, base = in_turn(scale.rounds, lambda: at_once(scale.events), lambda: one_by_one(scale.events))
    for place, (label, unit) in enumerate((("time", "s"), ("WAL", "MiB"))):
        yield versus(f"retention-month {label} ({scale.events:,} rows)", unit, [one[place] for one in ours], "one by one",
                     [one[place] for one in base])


def partition_live(scale):
    """The longest publish while the table becomes partitioned: 3 publishers and 2 workers at work, the command killed at each step."""
    def longest():
        # The delivery test, on a table of this size and a server with default durability. It fails when anything is lost, doubled
        # or stranded.
        text = output_of([DELIVERY_TEST, "--gtest_filter=PartitionUnderLoad.KilledAtEachStepNothingIsLostDoubledOrStranded"],
                         env=os.environ | {"SLUICE_PARTITION_ROWS": str(scale.partitioned)})
        return longest_publishes(text)

    rounds = [longest() for _ in range(scale.rounds)]
    yield versus(f"partition-live ({scale.partitioned:,} rows)", "ms", [one[0] for one in rounds], "a thousand publishes before",
                 [one[1] for one in rounds], value_at_most(200))


def longest_publishes(text):
    """Milliseconds, from what the test prints: while it became partitioned, and before."""
    found = re.search(r"longest publish (\d+) ms, of a thousand before it (\d+) ms", text)
    if not found:
        raise BenchFailed(f"{DELIVERY_TEST} told no longest publish: {text.strip()[-300:]}")
    return int(found[1]), max(1, int(found[2]))
