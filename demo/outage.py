#!/usr/bin/env python3
"""An outage to practise on: 300 events of three kinds fail at a broken receiver, and then the receiver is fixed.

    demo/outage.py BINARY [--listen HOST:PORT] [--exit-when-ready]

Everything lives in a temporary folder. Ctrl-C ends it.
"""

import argparse
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from receiver import FAILURES, Receiver

EVENTS = 300
SECRET = "whsec_c2x1aWNlLWRlbW8tc2VjcmV0LW5vdC1mb3ItdXNl"

CONFIGURATION = """\
[sinks.shop]
kind = "http"
url = "{url}"
secret = "{secret}"
allow = ["127.0.0.1"]
breaker_failures = 10000

[subscriptions."shop.notifier"]
events = ["shop.*"]
sink = "shop"
retry = {{ attempts = 2, base = "200ms", cap = "1s" }}
"""


def say(text):
    print(f"demo: {text}", file=sys.stderr, flush=True)


class Daemon:
    def __init__(self, binary, folder, listen):
        self._process = subprocess.Popen(
            [binary, "serve", "--store", f"sqlite:{folder / 'demo.db'}", "--config", folder / "sluice.toml",
             "--listen", listen, "--log-level", "error", "-o", "json"],
            stdout=subprocess.PIPE, stderr=open(folder / "log", "w"), text=True)
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("demo: the daemon did not start:\n" + (folder / "log").read_text())
        self.url = json.loads(line)["url"]

    def call(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def stop(self):
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(timeout=60)


def publish(daemon):
    types = list(FAILURES)
    events = [{"event_type": types[n % len(types)], "source": "shop", "payload": {"number": n, "total": f"{n}.90"}}
              for n in range(EVENTS)]
    daemon.call("v1/events", {"events": events})


def wait_for_dead(daemon):
    while True:
        dead = daemon.call("v1/dlq/count")["count"]
        if dead >= EVENTS:
            return
        say(f"{dead} of {EVENTS} have failed")
        time.sleep(0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--listen", default="127.0.0.1:0")
    parser.add_argument("--exit-when-ready", action="store_true", help="end when there is something to see")
    arguments = parser.parse_args()

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with tempfile.TemporaryDirectory(prefix="sluice-demo-") as name:
        folder = pathlib.Path(name)
        receiver = Receiver()
        (folder / "sluice.toml").write_text(CONFIGURATION.format(url=receiver.url, secret=SECRET))
        daemon = Daemon(arguments.binary, folder, arguments.listen)
        try:
            say(f"{EVENTS} events of {len(FAILURES)} kinds go to a receiver that is broken")
            publish(daemon)
            wait_for_dead(daemon)
            receiver.mended.set()
            say("all of them failed, after two attempts each; now the receiver is fixed")
            print(f"\nOpen {daemon.url}dlq\n"
                  "and replay them: pick a group, look at an event, then Replay. Ctrl-C ends the demo.\n", flush=True)
            if not arguments.exit_when_ready:
                ended.wait()
        finally:
            daemon.stop()
        say(f"the receiver refused {receiver.refused} deliveries and accepted {receiver.accepted}")


if __name__ == "__main__":
    main()
