"""What the benchmarks of the daemon need: the daemon itself, a load generator (wrk) and a receiver."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

# As long as the envelope of a sample event.
BODY = json.dumps({"event_type": "bench.order.placed", "source": "bench", "target": "billing", "payload": {
    "order_id": 12345678, "customer": "c-1742", "currency": "EUR", "total": "129.90",
    "lines": [{"sku": "A-100", "quantity": 2}, {"sku": "B-220", "quantity": 1}], "note": "leave it with the neighbour"}})


class Daemon:
    """`sluice serve` on a store, with a configuration; `ready_at` is when it said so."""

    def __init__(self, sluice, store, configuration, *words):
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name) / "sluice.toml"
        file.write_text(configuration)
        self._log = open(Path(self._folder.name) / "log", "w+")
        self.process = subprocess.Popen(
            [sluice, "serve", "--store", store, "--config", file, "--listen", "127.0.0.1:0", "--log-level", "error", "-o", "json", *words],
            stdout=subprocess.PIPE, stderr=self._log, text=True)
        line = self.process.stdout.readline()
        self.ready_at = time.monotonic()
        if not line:
            self._log.seek(0)
            raise RuntimeError(f"the daemon did not start: {self._log.read().strip()}")
        self.url = json.loads(line)["url"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=120)
        self._folder.cleanup()

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return json.load(answer)


def wrk(url, connections, seconds, body=BODY):
    """POSTs per second, and how many were not answered with 2xx."""
    if not shutil.which("wrk"):
        raise RuntimeError("wrk is missing; ./run bench installs it")
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(f"wrk.method = 'POST'\nwrk.body = [==[{body}]==]\nwrk.headers['Content-Type'] = 'application/json'\n")
        script.flush()
        text = subprocess.run(["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "-s", script.name, url],
                              capture_output=True, text=True, check=True).stdout
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1)), int(refused.group(1)) if refused else 0


class Receiver:
    """Answers every POST with an empty 200, on one thread."""

    def __init__(self, program):
        self._program = program

    def __enter__(self):
        self._process = subprocess.Popen([self._program, "receiver"], stdout=subprocess.PIPE, text=True)
        self.url = json.loads(self._process.stdout.readline())["url"]
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait(timeout=30)


def resident_mib(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"no process {pid}")


def clean_environment():
    """Settings of whoever measures must not be measured."""
    for name in list(os.environ):
        if name.startswith("SLUICE_") and not name.startswith(("SLUICE_TEST_", "SLUICE_BUILD_", "SLUICE_PG_")):
            del os.environ[name]
