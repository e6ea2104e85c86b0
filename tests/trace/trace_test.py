"""trace_test.py SLUICE [--record FILE]: one event through publish, claim, a sink that refuses it twice, dead letter, replay
and delivery, as an OTLP receiver sees it. The receiver decodes with the definitions of OpenTelemetry's own SDK.

`--record` keeps the trace for the picture in the documentation; draw.py draws it.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tracing import CALLER, CLIENT, CONSUMER, HERE, PRODUCER, TRACE, Collector, Daemon, collecting, expect, named

CONFIG = """
trace_url = "https://traces.example.com/{{trace_id}}"

[otel]
endpoint = "http://127.0.0.1:{collector}"
headers = "x-team=web"
compression = "gzip"
service_name = "shop"
metric_interval = "250ms"
logs = "otlp"

[sinks.till]
kind = "http"
url = "http://127.0.0.1:{receiver}/in"
allow = ["127.0.0.1"]

[subscriptions."shop.till"]
events = ["order.*"]
sink = "till"
retry = {{ attempts = 2, base = "10ms", cap = "10ms" }}
"""


class Receiver:
    def __init__(self, *orders):
        self.process = subprocess.Popen([sys.executable, HERE.parent / "serve_sink/receiver.py"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.process.stdin.write("".join(f"{line}\n" for line in (*orders, "ready")))
        self.process.stdin.flush()
        self.port = int(self.process.stdout.readline())

    def next(self):
        return json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def linked(span):
    return [link["spanId"] for link in span.get("links", [])]


SEVERITIES = {"debug": 5, "info": 9, "warn": 13, "error": 17}
CONTEXT = ("timestamp", "level", "message", "service", "environment", "trace_id", "span_id")


def check_trace(spans, event_id, requests):
    """Parents and links, from the caller's span to the receiver."""
    own = [span for span in spans if span["traceId"] == TRACE]
    (publish,) = named(own, "publish")
    expect((publish["name"], publish["kind"], publish["parentSpanId"]), ("publish order.paid", PRODUCER, CALLER), "publish")
    expect(publish["attributes"]["messaging.message.id"], event_id, "the message's id")
    expect(publish["resource"]["service.name"], "shop", "the service")

    claims, runs, settles, posts = named(own, "claim"), named(own, "process"), named(own, "settle"), named(own, "POST")
    expect([len(each) for each in (claims, runs, settles, posts)], [3, 3, 3, 3], "claims, runs, settles and requests")
    for claim, run, settle, post, request in zip(claims, runs, settles, posts, requests):
        expect((claim["kind"], claim["parentSpanId"]), (CLIENT, publish["spanId"]), "the claim's parent")
        expect((run["kind"], run["parentSpanId"]), (CONSUMER, publish["spanId"]), "the run's parent")
        expect(linked(run), [claim["spanId"]], "the run's link")
        expect(run["attributes"]["messaging.consumer.group.name"], "shop.till", "the handler")
        expect((settle["kind"], settle["parentSpanId"]), (CLIENT, run["spanId"]), "the settle's parent")
        expect((post["kind"], post["parentSpanId"]), (CLIENT, run["spanId"]), "the request's parent")
        expect(request["headers"]["traceparent"], f"00-{TRACE}-{post['spanId']}-01", "what the receiver is given")
    expect([run["attributes"]["sluice.attempt"] for run in runs], [1, 2, 1], "the attempts")
    expect([run["attributes"]["sluice.outcome"] for run in runs], ["failed", "failed", "handled"], "the outcomes")
    expect([run.get("status", {}).get("code") for run in runs], [2, 2, None], "the status of the runs")
    expect([run["attributes"].get("error.type") for run in runs], ["http_503", "http_503", None], "the error class")
    expect([post["attributes"]["http.response.status_code"] for post in posts], [503, 503, 200], "the receiver's answers")

    (replay,) = named(own, "replay")
    expect((replay["kind"], replay["parentSpanId"]), (PRODUCER, publish["spanId"]), "the replay's parent")
    if not int(runs[1]["endTimeUnixNano"]) <= int(replay["startTimeUnixNano"]) <= int(claims[2]["startTimeUnixNano"]):
        sys.exit("the replay is not between the dead letter and the next claim")
    return own


def check_metrics(collector):
    wanted = "sluice_handler_duration_seconds"
    seen = collector.await_metrics(lambda metrics: metrics[wanted]["histogram"]["dataPoints"][0]["count"] == "3"
                                   if wanted in metrics else False)
    (point,) = seen[wanted]["histogram"]["dataPoints"]
    expect({exemplar["traceId"] for exemplar in point["exemplars"]}, {TRACE}, "the exemplars' trace")
    claimed = seen["sluice_claimed_events"]["sum"]
    expect((claimed["dataPoints"][0]["asInt"], claimed["isMonotonic"]), ("3", True), "the claimed events")


def check_log(folder, collector, runs):
    """Every line that the daemon has written has come to the collector, too."""
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines() if line.startswith("{")]
    handled = [line for line in lines if line.get("handler_name") == "shop.till"]
    expect([(line["trace_id"], line["span_id"]) for line in handled], [(TRACE, run["spanId"]) for run in runs], "the log")
    # What is said of the collector itself does not go there; what is said after the last export does not either.
    sent = [line for line in lines if "exported" not in line["message"]][:len(collector.logs)]
    expect(len(sent) > len(handled), True, f"{len(sent)} lines were sent")
    for line, entry in zip(sent, sorted(collector.logs, key=lambda entry: int(entry["timeUnixNano"]))):
        expect(entry["body"]["stringValue"], line["message"], "the line")
        expect((entry["severityText"], entry["severityNumber"]), (line["level"], SEVERITIES[line["level"]]), "its severity")
        expect((entry.get("traceId"), entry.get("spanId")), (line["trace_id"], line.get("span_id")), "its trace")
        own = {key: value for key, value in line.items() if key not in CONTEXT and value is not None}
        expect(entry["attributes"], own, "its fields")
        expect(entry["resource"]["service.name"], "shop", "the service")


def play(sluice, folder, collector):
    receiver = Receiver("503", "503")
    daemon = Daemon(sluice, folder, CONFIG.format(collector=collector.port, receiver=receiver.port))
    order = {"event_type": "order.paid", "source": "shop", "payload": {"order": 4711}}
    event_id = daemon.call("v1/events", order, {"traceparent": f"00-{TRACE}-{CALLER}-01"})["event_id"]
    dead = daemon.await_status(event_id, "failed")
    expect(dead["trace_context"].split("-")[1], TRACE, "the event's trace")
    expect(dead["trace_url"], f"https://traces.example.com/{TRACE}", "the address of the trace")
    shown = json.loads(daemon.run("event", "show", event_id, "-o", "json"))
    expect(shown["trace_url"], dead["trace_url"], "the address on the command line")
    daemon.call(f"v1/events/{event_id}/replay", {"reason": "the receiver is fixed"})
    daemon.await_status(event_id, "delivered")
    requests = [receiver.next() for _ in range(3)]
    collector.await_spans(lambda spans: len(named(spans, "settle")) == 3)
    check_metrics(collector)
    collector.await_logs(lambda logs: len([log for log in logs if log["attributes"].get("handler_name") == "shop.till"]) == 3)

    # From the command line: a trace of its own, sent before the command ends.
    published = daemon.run("publish", "demo.hello").strip()
    collector.await_spans(lambda spans: any(span["attributes"].get("messaging.message.id") == published for span in spans))
    daemon.stop()
    receiver.stop()
    return event_id, requests


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("sluice")
    arguments.add_argument("--record", type=Path)
    given = arguments.parse_args()
    # The first batch is sent twice: the collector had no room.
    with tempfile.TemporaryDirectory() as name, collecting("503") as process:
        folder, collector = Path(name), Collector(process)
        event_id, requests = play(given.sluice, folder, collector)
        own = check_trace(collector.spans, event_id, requests)
        check_log(folder, collector, named(own, "process"))
    if given.record:
        given.record.write_text(json.dumps(sorted(own, key=lambda span: int(span["startTimeUnixNano"])), indent=1) + "\n")
    print(f"{len(own)} spans")


main()
