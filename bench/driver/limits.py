"""The peers' own figures and the raw limits, as rows of their own: what --peers adds."""
import time

from driver import peers
from driver.database import Database
from driver.delivery import own_drain
from driver.figures import alone, in_turn, versus
from driver.publishing import raw_batch, raw_insert


def graphile_worker(scale):
    """graphile-worker: drain, and latency p50 and p99."""
    peers.install()
    drains, latencies = in_turn(scale.rounds, lambda: peers.graphile_drain(scale.events),
                                lambda: peers.graphile_latency(scale.latencies))
    yield alone("graphile-worker drain", "jobs/s", drains)
    for part in ("p50", "p99"):
        yield alone(f"graphile-worker latency {part}", "ms", [one[part] for one in latencies])


def pg_boss(scale):
    """pg-boss: fetch and complete of a backlog; against own drain."""
    peers.install()
    theirs, ours = in_turn(scale.rounds, lambda: peers.pgboss_drain(scale.events), lambda: own_drain(scale.events))
    yield versus("pg-boss fetch+complete", "jobs/s", theirs, "own drain", ours)


def bulk_update(scale):
    """Every row to in_flight and then to delivered, two statements in one session: what the server can do at all."""
    def twice():
        with Database() as database:
            database.rate("publish-batch", events=scale.events, size=1000, sessions=2)
            database.settle_down()
            begin = time.monotonic()
            database.sql("update core.outbox set status = 'in_flight', claimed_at = now(), claimed_by = 'bench', claim_seq = claim_seq + 1")
            database.sql("update core.outbox set status = 'delivered', delivered_at = now()")
            return scale.events / (time.monotonic() - begin)

    yield alone("bulk UPDATE twice over all rows", "rows/s", in_turn(scale.rounds, twice)[0])


def raw_inserts(scale):
    """INSERTs without Sluice: pgbench with and without the trigger, and many rows per statement."""
    with_trigger, without, batch = in_turn(scale.rounds, lambda: raw_insert(scale.seconds, True),
                                           lambda: raw_insert(scale.seconds, False), lambda: raw_batch(scale.events))
    yield alone("pgbench INSERT with the row trigger", "commits/s", with_trigger)
    yield alone("pgbench INSERT without trigger", "commits/s", without)
    yield alone("raw multi-row INSERT", "rows/s", batch)
