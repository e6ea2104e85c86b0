"""postgres_test.py SLUICE: what only PostgreSQL has, as an OTLP receiver sees it: a publish in SQL whose trace the run continues,
and the gauge of the NOTIFY queue. The event is sent to its handler again, which is part of its trace too."""
import sys
import tempfile
from pathlib import Path

from tracing import CALLER, CONSUMER, HERE, PRODUCER, TRACE, Collector, Daemon, collecting, expect, named

sys.path.insert(0, str(HERE.parent / "support"))
from fresh_database import FreshDatabase  # noqa: E402

CONFIG = """
[otel]
endpoint = "http://127.0.0.1:{collector}"
headers = "x-team=web"
compression = "gzip"
metric_interval = "250ms"
"""


def play(daemon, database, collector):
    publish = f"core.outbox_publish('order.paid', p_source => 'shop', p_trace_context => '00-{TRACE}-{CALLER}-01')"
    event_id = database.sql(f"select {publish}")
    daemon.await_status(event_id, "delivered")
    daemon.call(f"v1/events/{event_id}/resend", {"handler": "sluice.log", "reason": "the log was lost"})
    daemon.await_status(event_id, "delivered")
    collector.await_spans(lambda spans: len(named(spans, "settle")) == 2)

    spans = [span for span in collector.spans if span["traceId"] == TRACE]
    for span in named(spans, "process"):
        expect((span["name"], span["kind"], span["parentSpanId"]), ("process order.paid", CONSUMER, CALLER), "a run")
    expect(len(named(spans, "process")), 2, "the runs")
    (resend,) = named(spans, "resend")
    expect((resend["name"], resend["kind"], resend["parentSpanId"]), ("resend order.paid", PRODUCER, CALLER), "the resend")

    gauge = "sluice_notify_queue_usage_ratio"
    seen = collector.await_metrics(lambda metrics: gauge in metrics)
    (point,) = seen[gauge]["gauge"]["dataPoints"]
    expect(0 <= point["asDouble"] <= 1, True, f"the NOTIFY queue: {point}")


def main():
    with tempfile.TemporaryDirectory() as name, collecting() as process, FreshDatabase(sys.argv[1], "trace") as database:
        collector = Collector(process)
        daemon = Daemon(sys.argv[1], Path(name), CONFIG.format(collector=collector.port), store=database.url)
        play(daemon, database, collector)
        daemon.stop()


main()
