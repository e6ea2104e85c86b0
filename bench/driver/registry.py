"""Every benchmark by its name."""
from dataclasses import dataclass
from typing import Callable

from driver import brokers, delivery, embedded, limits, months, publishing, serving, traces, triage


@dataclass(frozen=True)
class Bench:
    measure: Callable       # (scale) → figures
    npm: bool = False       # needs the peers
    peer: bool = False      # a peer or a limit by itself: runs with --peers, or by its name

    @property
    def summary(self):
        return self.measure.__doc__.strip()


BENCHES = {
    "broker-consume": Bench(brokers.broker_consume),
    "dashboards": Bench(triage.dashboards),
    "dlq": Bench(triage.dlq),
    "drain": Bench(delivery.drain, npm=True),
    "drain-history": Bench(delivery.drain_history),
    "drain-keyed": Bench(delivery.drain_keyed),
    "drain-once": Bench(delivery.drain_once, npm=True),
    "drain-partitions": Bench(delivery.drain_partitions),
    "drain-pinned": Bench(delivery.drain_pinned),
    "drain-processes": Bench(delivery.drain_processes),
    "http-sink": Bench(serving.http_sink),
    "ingest": Bench(serving.ingest),
    "latency": Bench(delivery.latency, npm=True),
    "latency-broker": Bench(brokers.latency_broker),
    "memory": Bench(serving.memory),
    "partition-live": Bench(months.partition_live),
    "publish-batch": Bench(publishing.publish_batch),
    "publish-live": Bench(publishing.publish_live),
    "publish-single": Bench(publishing.publish_single),
    "relay-nats": Bench(brokers.relay_nats),
    "relay-redis": Bench(brokers.relay_redis),
    "retention-month": Bench(months.retention_month),
    "sqlite-drain": Bench(embedded.sqlite_drain),
    "sqlite-publish": Bench(embedded.sqlite_publish),
    "start": Bench(serving.start),
    "traces": Bench(traces.traces),
    "bulk-update": Bench(limits.bulk_update, peer=True),
    "graphile-worker": Bench(limits.graphile_worker, npm=True, peer=True),
    "pg-boss": Bench(limits.pg_boss, npm=True, peer=True),
    "raw-insert": Bench(limits.raw_inserts, peer=True),
    "raw-sqlite": Bench(embedded.raw_sqlite, peer=True),
}


def chosen(names, peers=False, npm=True):
    """The names asked for; without any, all of Sluice's own, and with `peers` the others too."""
    wanted = names or [name for name, bench in BENCHES.items() if peers or not bench.peer]
    return [name for name in wanted if npm or not BENCHES[name].npm]
