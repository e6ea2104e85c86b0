"""broker_test.py SLUICE nats|redis: a sink on a real broker in the daemon. The broker is away at the start and comes, is
killed while events flow and comes back, has no stream, refuses what is too large, is full, loses its stream; no event is lost
and none comes twice."""
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from broker_servers import broker

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from polling import until

KIND = sys.argv[2]
PLACE = {"nats": 'urls = ["nats://127.0.0.1:{port}"]\nsubject = "events.{{type}}"',
         "redis": 'url = "redis://127.0.0.1:{port}"\nstream = "events.{{type}}"'}[KIND]
CONFIG = """
[sinks.bus]
kind = "{kind}"
{place}
connect_timeout = "1s"
timeout = "2s"
breaker_rest = "100ms"

[subscriptions."shop.bus"]
events = ["order.*"]
sink = "bus"
retry = {{ base = "10ms", cap = "50ms", attempts = 1000 }}
"""


def expect(seen, wanted, what):
    if seen != wanted:
        sys.exit(f"{what}: expected {wanted!r}, got {seen!r}")


class Daemon:
    def __init__(self, sluice, folder, port):
        self.sluice, self.folder = sluice, folder
        config = CONFIG.format(kind=KIND, place=PLACE.format(port=port))
        (folder / "sluice.toml").write_text(config)
        self.arguments = ["--config", folder / "sluice.toml", "--store", f"sqlite:{folder}/sluice.db"]
        self.process = subprocess.Popen(
            [sluice, "serve", "-o", "json", *self.arguments, "--listen", "127.0.0.1:0", "--log-level", "error"],
            env={**os.environ, "HOME": str(folder)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = json.loads(self.process.stdout.readline())["url"]

    def call(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def publish(self, number, text=""):
        event = {"event_type": "order.paid", "source": "billing", "payload": {"number": number, "text": text}}
        return self.call("v1/events", event)["event_id"]

    def sink(self):
        return next(sink for sink in self.call("v1/sinks")["sinks"] if sink["name"] == "bus")

    def wait(self, enough):
        return until(self.sink, enough)

    def wait_for_event(self, event_id, status):
        return until(lambda: self.call(f"v1/events/{event_id}"), lambda event: event["status"] == status)

    def stop(self):
        self.process.terminate()
        expect(self.process.wait(timeout=60), 0, "the daemon's exit")


def away_at_the_start(daemon, server):
    first = [daemon.publish(number) for number in range(20)]
    seen = daemon.wait(lambda sink: sink["failed"] > 0)
    expect(seen["kind"], KIND, "the kind")
    expect(str(server.port) in seen["last_error"], True, f"the address in {seen['last_error']!r}")
    server.start()
    if KIND == "nats":
        seen = daemon.wait(lambda sink: "no_stream" in sink["last_error"])
        expect("nats stream add" in seen["last_error"], True, f"what to do in {seen['last_error']!r}")
    server.prepare()
    for event_id in first:
        daemon.wait_for_event(event_id, "delivered")
    expect(server.count(), 20, "messages, none twice")


def killed_while_events_flow(daemon, server):
    ids = []
    for number in range(20, 220):
        ids.append(daemon.publish(number))
        if number in (80, 150):
            server.kill()
        if number in (110, 180):
            server.start()
    for event_id in ids:
        daemon.wait_for_event(event_id, "delivered")
    expect(server.count(), 220, "messages after two crashes, none twice")
    daemon.wait(lambda sink: sink["state"] == "active")


def what_a_message_has(daemon, server):
    event_id = daemon.publish(999)
    daemon.wait_for_event(event_id, "delivered")
    address, text = server.last()
    expect(address, "events.order.paid", "the address")
    for part in (event_id, "ce-id", "ce-type", "ce-source", "billing", "ce-datacontenttype", '"number":'):
        expect(part in text, True, f"{part} in {text!r}")


def sent_again(daemon, server):
    event_id = daemon.publish(1001)
    daemon.wait_for_event(event_id, "delivered")
    before = server.count()
    daemon.call(f"v1/events/{event_id}/resend", {"handler": "shop.bus", "reason": "the receiver lost it"})
    daemon.wait_for_event(event_id, "delivered")
    expect(server.count(), before + 1, "messages after the event was sent again")
    expect(f"{event_id}:bus:1" in server.last()[1], True, "the number of the replay in the id")


def too_large(daemon, server):
    before = server.count()
    event = daemon.wait_for_event(daemon.publish(1000, "x" * 30_000), "failed")
    expect("20000" in json.dumps(event), True, "the broker's limit in the error")
    expect("message_too_large" in json.dumps(event), True, "the error class")
    expect(server.count(), before, "messages")


def full(daemon, server):
    before = server.count()
    server.stream("UPDATE", max_msgs=before)
    ids = [daemon.publish(number) for number in range(2000, 2010)]
    seen = daemon.wait(lambda sink: "broker_full" in sink["last_error"])
    expect("raise its limits" in seen["last_error"], True, f"what to do in {seen['last_error']!r}")
    expect(server.count(), before, "messages in a full stream")
    server.stream("UPDATE")
    for event_id in ids:
        daemon.wait_for_event(event_id, "delivered")
    expect(server.count(), before + 10, "messages after the stream was made larger")


def deleted(daemon, server):
    server.stream("DELETE")
    ids = [daemon.publish(number) for number in range(3000, 3010)]
    daemon.wait(lambda sink: "no_stream" in sink["last_error"])
    server.prepare()
    for event_id in ids:
        daemon.wait_for_event(event_id, "delivered")
    expect(server.count(), 10, "messages after the stream was made anew")


def main():
    with tempfile.TemporaryDirectory() as name:
        server = broker(KIND)
        daemon = Daemon(sys.argv[1], Path(name), server.port)
        away_at_the_start(daemon, server)
        killed_while_events_flow(daemon, server)
        what_a_message_has(daemon, server)
        sent_again(daemon, server)
        if KIND == "nats":  # redis-server has no smaller limit than what Sluice takes
            too_large(daemon, server)
            full(daemon, server)
            deleted(daemon, server)
        trial = daemon.call("v1/sinks/bus/test", {})
        expect(trial["ok"], True, f"the trial delivery {trial}")
        expect("events.sluice.test" in trial["detail"], True, f"where it went: {trial}")
        daemon.stop()
        server.kill()
    bad_days = "away, killed" + (", too large, full, without its stream" if KIND == "nats" else "")
    print(f"{KIND}: {bad_days}; nothing lost, nothing twice")


main()
