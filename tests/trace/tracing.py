"""What the tests of traces share: an OTLP receiver that decodes, and a daemon that sends to it."""
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from node_program import start_script  # noqa: E402
from polling import until  # noqa: E402

CLIENT, PRODUCER, CONSUMER = 3, 4, 5
TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = "b7ad6b7169203331"


def expect(seen, wanted, what):
    if seen != wanted:
        sys.exit(f"{what}: expected {wanted!r}, got {seen!r}")


class Collector:
    """What it has taken so far; a process that prints a line for each request."""

    def __init__(self, process):
        self.process = process
        self.port = int(process.stdout.readline())
        self.spans = []
        self.metrics = []
        self.logs = []

    def next(self):
        request = json.loads(self.process.stdout.readline())
        if "refused" in request:
            sys.exit(f"the collector refused: {request['refused']}")
        expect(request["packed"], True, "compression")
        expect(request["headers"]["x-team"], "web", "the configured header")
        self.spans += request.get("spans", [])
        self.metrics = request.get("metrics", self.metrics)
        self.logs += request.get("logs", [])

    def await_spans(self, enough):
        while not enough(self.spans):
            self.next()

    def await_logs(self, enough):
        while not enough(self.logs):
            self.next()

    def await_metrics(self, enough):
        self.metrics = []
        while not self.metrics or not enough({metric["name"]: metric for metric in self.metrics}):
            self.next()
        return {metric["name"]: metric for metric in self.metrics}


class Daemon:
    def __init__(self, sluice, folder, config, store=None):
        file = folder / "sluice.toml"
        file.write_text(config)
        self.common = ["--config", file, "--store", store or f"sqlite:{folder}/sluice.db"]
        self.sluice = sluice
        self.environment = {**os.environ, "HOME": str(folder)}
        self.process = subprocess.Popen([sluice, "serve", "-o", "json", *self.common, "--listen", "127.0.0.1:0"],
                                        env=self.environment, stdout=subprocess.PIPE, stderr=open(folder / "log", "w"))
        self.url = json.loads(self.process.stdout.readline())["url"]

    def call(self, path, body=None, headers=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json", **(headers or {})})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def await_status(self, event_id, status):
        return until(lambda: self.call(f"v1/events/{event_id}"), lambda event: event["status"] == status)

    def run(self, *words):
        return subprocess.run([self.sluice, *words, *self.common], env=self.environment, check=True, capture_output=True,
                              text=True).stdout

    def stop(self):
        self.process.terminate()
        expect(self.process.wait(timeout=60), 0, "the daemon's exit")


def named(spans, beginning):
    return sorted((span for span in spans if span["name"].startswith(beginning)), key=lambda span: int(span["startTimeUnixNano"]))


def collecting(*statuses):
    """The process of a collector, for `with`; the first requests are answered with these statuses."""
    return start_script(HERE, "collector.mjs", dict(os.environ), *statuses)
