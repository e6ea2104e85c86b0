"""dead_collector_test.py SLUICE: a collector that takes connections and never answers. Events are delivered all the same, more
spans and lines of the log than there is room for are dropped and counted, the log says it once, and a stop does not wait for it."""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from polling import until

ROOM = 8192 + 512  # in the queue, and in the request that is under way
EVENTS = 10000  # a run and a line of each: more than the queues have room for


def main():
    with tempfile.TemporaryDirectory() as name, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        folder = Path(name)
        environment = {**os.environ, "HOME": name, "OTEL_EXPORTER_OTLP_TIMEOUT": "60000", "OTEL_LOGS_EXPORTER": "otlp",
                       "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}"}
        daemon = subprocess.Popen([sys.argv[1], "serve", "-o", "json", "--store", f"sqlite:{folder}/sluice.db",
                                   "--listen", "127.0.0.1:0"],
                                  env=environment, stdout=subprocess.PIPE, stderr=open(folder / "log", "w"), text=True)
        url = json.loads(daemon.stdout.readline())["url"]

        def counted(metric):
            with urllib.request.urlopen(url + "metrics", timeout=60) as answer:
                return float(re.search(rf"^{metric} (\S+)$", answer.read().decode(), re.MULTILINE).group(1))

        for _ in range(EVENTS // 1000):
            events = {"events": [{"event_type": "demo.hello", "source": "demo"}] * 1000}
            request = urllib.request.Request(url + "v1/events", json.dumps(events).encode(), {"content-type": "application/json"})
            urllib.request.urlopen(request, timeout=60).close()
        delivered = 'sluice_settled_events_total{result="delivered"}'.replace("{", r"\{").replace("}", r"\}")
        until(lambda: counted(delivered) >= EVENTS)
        for of in ("trace_spans", "log_records"):
            waiting, dropped, exported = (counted(f"sluice_{of}_{what}") for what in ("queued", "dropped_total", "exported_total"))
            if exported != 0 or waiting > ROOM:
                sys.exit(f"{of}: {exported} exported and {waiting} queued, to a collector that never answers")
            if dropped < EVENTS - ROOM:
                sys.exit(f"{of}: {dropped} were dropped, of {EVENTS} and more that there were")
        daemon.terminate()
        daemon.communicate(timeout=30)
        if daemon.returncode != 0:
            sys.exit(f"the daemon ended with {daemon.returncode}: {(folder / 'log').read_text()[-2000:]}")


main()
