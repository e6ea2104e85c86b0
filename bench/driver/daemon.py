"""The daemon, a load generator (wrk) and a receiver of webhooks."""
import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from driver.programs import SLUICE, SLUICE_BENCH, BenchFailed

# As long as the envelope of a sample event.
BODY = json.dumps({"event_type": "bench.order.placed", "source": "bench", "target": "billing", "payload": {
    "order_id": 12345678, "customer": "c-1742", "currency": "EUR", "total": "129.90",
    "lines": [{"sku": "A-100", "quantity": 2}, {"sku": "B-220", "quantity": 1}], "note": "leave it with the neighbour"}})

NOBODY = """[subscriptions."bench.nobody"]
events = ["elsewhere.*"]
sink = "log"
"""

TO_RECEIVER = """[sinks.bench]
kind = "http"
url = "{url}"
allow = ["127.0.0.1"]
secret = "whsec_c2x1aWNlLWRlbW8tc2VjcmV0LW5vdC1mb3ItdXNl"
concurrency = 64
breaker_failures = 10000

[subscriptions."bench.receiver"]
events = ["bench.*"]
sink = "bench"
"""


class Daemon:
    """`sluice serve` on a store, with a configuration; `ready_at` is when it said so."""

    def __init__(self, store, configuration, *words, listen="127.0.0.1:0"):
        self._folder = tempfile.TemporaryDirectory(prefix="sluice-bench-")
        file = Path(self._folder.name) / "sluice.toml"
        file.write_text(configuration)
        self._log = open(Path(self._folder.name) / "log", "w+")
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(
            [SLUICE, "serve", "--store", store, "--config", file, "--listen", listen, "--log-level", "error", "-o", "json", *words],
            stdout=subprocess.PIPE, stderr=self._log, text=True)

    def __enter__(self):
        line = self.process.stdout.readline()
        self.ready_at = time.monotonic()
        if not line:
            self._log.seek(0)
            raise BenchFailed(f"the daemon did not start: {self._log.read().strip()}")
        self.url = json.loads(line)["url"]
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=120)
        self._log.close()
        self._folder.cleanup()

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return json.load(answer)

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)

    def peak_mib(self):
        """The most memory that was ever resident."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        raise BenchFailed(f"the system does not say how much memory process {self.process.pid} has")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def milliseconds_to_ready(store):
    """From the start of the process to the first 200 of /readyz, asked every millisecond."""
    port = free_port()
    daemon = Daemon(store, "", listen=f"127.0.0.1:{port}")
    try:
        while not is_ready(port):
            if daemon.process.poll() is not None or time.monotonic() - daemon.started_at > 30:
                raise BenchFailed("the daemon did not become ready within 30 seconds")
            time.sleep(0.001)
        return (time.monotonic() - daemon.started_at) * 1000
    finally:
        daemon.__exit__()


def is_ready(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def wrk(url, connections, seconds, body=BODY):
    """POSTs per second; each must be answered with 2xx."""
    if not shutil.which("wrk"):
        raise BenchFailed("wrk is missing; ./run bench installs it")
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(f"wrk.method = 'POST'\nwrk.body = [==[{body}]==]\nwrk.headers['Content-Type'] = 'application/json'\n")
        script.flush()
        text = subprocess.run(["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "-s", script.name, url],
                              capture_output=True, text=True, check=True).stdout
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    if refused:
        raise BenchFailed(f"{refused.group(1)} requests were refused")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))


class Receiver:
    """Answers every POST with an empty 200, on one thread."""

    def __enter__(self):
        self._process = subprocess.Popen([SLUICE_BENCH, "receiver"], stdout=subprocess.PIPE, text=True)
        self.url = json.loads(self._process.stdout.readline())["url"]
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait(timeout=30)
