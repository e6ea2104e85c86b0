"""dead_collector_test.py SLUICE: a collector that takes connections and never answers. Events are delivered all the same, more
spans than there is room for are dropped and counted, the log says it once, and a stop does not wait for it."""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

ROOM = 8192 + 512  # in the queue, and in the request that is under way
EVENTS = 10000  # a run of each: more spans than the queue has room for


def main():
    with tempfile.TemporaryDirectory() as name, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        folder = Path(name)
        environment = {**os.environ, "HOME": name, "OTEL_EXPORTER_OTLP_TIMEOUT": "60000",
                       "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}"}
        daemon = subprocess.Popen([sys.argv[1], "serve", "-o", "json", "--store", f"sqlite:{folder}/sluice.db",
                                   "--listen", "127.0.0.1:0", "--log-level", "warn"],
                                  env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        url = json.loads(daemon.stdout.readline())["url"]

        def counted(metric):
            with urllib.request.urlopen(url + "metrics", timeout=60) as answer:
                return float(re.search(rf"^{metric} (\S+)$", answer.read().decode(), re.MULTILINE).group(1))

        for _ in range(EVENTS // 1000):
            events = {"events": [{"event_type": "demo.hello", "source": "demo"}] * 1000}
            request = urllib.request.Request(url + "v1/events", json.dumps(events).encode(), {"content-type": "application/json"})
            urllib.request.urlopen(request, timeout=60).close()
        while counted('sluice_settled_events_total{result="delivered"}'.replace("{", r"\{").replace("}", r"\}")) < EVENTS:
            pass
        waiting, dropped, exported = (counted(f"sluice_trace_spans_{what}") for what in ("queued", "dropped_total", "exported_total"))
        if exported != 0 or waiting > ROOM:
            sys.exit(f"{exported} spans exported and {waiting} queued, to a collector that never answers")
        if dropped < EVENTS - ROOM:
            sys.exit(f"{dropped} spans were dropped, of {EVENTS} and more that were recorded")
        daemon.terminate()
        _, said = daemon.communicate(timeout=30)
        if daemon.returncode != 0:
            sys.exit(f"the daemon ended with {daemon.returncode}: {said}")


main()
