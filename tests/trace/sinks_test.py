"""sinks_test.py SLUICE nats|redis: one event to a broker and to a program, as an OTLP receiver sees it. The message and the
program are given the span that they are part of."""
import re
import sys
import tempfile
from pathlib import Path

from tracing import CALLER, CLIENT, CONSUMER, HERE, PRODUCER, TRACE, Collector, Daemon, collecting, expect, named

sys.path.insert(0, str(HERE.parent / "serve_sink"))
from broker_servers import broker  # noqa: E402

KIND = sys.argv[2]
PLACE = {"nats": 'urls = ["nats://127.0.0.1:{port}"]\nsubject = "events.{{type}}"',
         "redis": 'url = "redis://127.0.0.1:{port}"\nstream = "events.{{type}}"'}[KIND]
CONFIG = """
exec.enabled = true

[otel]
endpoint = "http://127.0.0.1:{collector}"
headers = "x-team=web"
compression = "gzip"

[sinks.bus]
kind = "{kind}"
{place}

[sinks.run]
kind = "exec"
command = ["/bin/sh", "-c", "echo $TRACEPARENT > {written}; exit 65"]

[subscriptions."shop.bus"]
events = ["order.*"]
sink = "bus"

[subscriptions."shop.run"]
events = ["order.*"]
sink = "run"
"""


def check(spans, message, written):
    own = [span for span in spans if span["traceId"] == TRACE]
    (publish,) = named(own, "publish")
    runs = {run["attributes"]["messaging.consumer.group.name"]: run for run in named(own, "process")}
    expect({run["parentSpanId"] for run in runs.values()}, {publish["spanId"]}, "the parent of the runs")
    expect({run["kind"] for run in runs.values()}, {CONSUMER}, "the kind of the runs")

    (send,) = named(own, "send")
    expect((send["name"], send["kind"]), ("send events.order.paid", PRODUCER), "the span of the message")
    expect(send["parentSpanId"], runs["shop.bus"]["spanId"], "its parent")
    expect(send["attributes"]["messaging.system"], KIND, "who carries it")
    expect(re.findall(r"(?<!-)traceparent[:\s]+(\S+)", message), [f"00-{TRACE}-{send['spanId']}-01"], "what the message carries")

    (program,) = named(own, "sh")
    expect((program["kind"], program["parentSpanId"]), (CLIENT, runs["shop.run"]["spanId"]), "the span of the program")
    expect(program["attributes"]["process.exit.code"], 65, "its exit status")
    expect(program["status"]["code"], 2, "its status")
    expect(written, f"00-{TRACE}-{program['spanId']}-01\n", "what the program is given")


def main():
    with tempfile.TemporaryDirectory() as name, collecting() as process:
        folder, collector, server = Path(name), Collector(process), broker(KIND).start()
        server.prepare()
        written = folder / "written"
        daemon = Daemon(sys.argv[1], folder, CONFIG.format(collector=collector.port, kind=KIND, written=written,
                                                           place=PLACE.format(port=server.port)))
        order = {"event_type": "order.paid", "source": "shop", "payload": {"order": 4711}}
        event_id = daemon.call("v1/events", order, {"traceparent": f"00-{TRACE}-{CALLER}-01"})["event_id"]
        daemon.await_status(event_id, "failed")
        collector.await_spans(lambda spans: named(spans, "send") and named(spans, "sh") and len(named(spans, "process")) == 2)
        check(collector.spans, server.last()[1], written.read_text())
        daemon.stop()
        server.kill()


main()
