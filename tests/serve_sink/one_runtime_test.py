"""one_runtime_test.py SLUICE postgres|sqlite [figures]: however many sinks a daemon has, it has one runtime: one listener
connection, one worker in the list, workers and a fixed handful of threads; and an event that comes in by HTTP wakes only
the workers that it is for. With `figures` nothing is expected and the figures are printed."""
import re
import statistics
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "serve"))
from serving import Serving, expect

THREADS = 2  # per sink
ROUNDS = 40
SERVICES = 13  # connections that are not the workers'
WORKERS = 16  # worker.connections, as it is by default
# Listener, presence, claim keeper, reaper, retention and patrol; operations, overview, sinks and subscriptions; the HTTP
# server, its pool, publishing, the pull API, the console's stream; one for each sink's HTTP client comes on top.
FIXED_THREADS = 24


class Receiver:
    """Takes everything, and knows when what came."""

    def __init__(self):
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                receiver.came(self.headers["webhook-id"])
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.at, self.grown = {}, threading.Condition()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/in"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def came(self, event):
        with self.grown:
            self.at[event] = time.monotonic()
            self.grown.notify_all()

    def wait(self, event):
        with self.grown:
            if not self.grown.wait_for(lambda: event in self.at, timeout=60):
                sys.exit(f"event {event} did not arrive")
            return self.at[event]


def configuration(sinks, url):
    # Nobody claims by itself: what is delivered was announced, and each claim that is counted has a cause.
    text = f"worker.threads = {THREADS}\nworker.safety_poll_interval = '1h'\n"
    for number in range(sinks):
        text += f"""
[sinks.s{number}]
kind = "http"
url = "{url}"
allow = ["127.0.0.1"]

[subscriptions."shop.s{number}"]
events = ["order{number}.*"]
sink = "s{number}"
"""
    return text


def claims(daemon):
    text = daemon.call("GET", "/metrics").text
    return sum(float(value) for value in re.findall(r"^sluice_claims_total\{[^}]*\} (\S+)", text, re.MULTILINE))


def quiet_claims(daemon, tries=10):
    """Once nothing moves any more, or after so many tries."""
    before, pause = claims(daemon), threading.Event()
    for _ in range(tries):
        pause.wait(0.3)
        now = claims(daemon)
        if now == before:
            break
        before = now
    return before


def cpu_seconds(daemon):
    fields = Path(f"/proc/{daemon.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def connections(daemon, like="sluice%"):
    return int(daemon.database.sql(
        "select count(*) from pg_stat_activity where datname = current_database() "
        f"and pid <> pg_backend_pid() and application_name like '{like}'"))


def publish_by_http(daemon, number):
    answer = daemon.call("POST", "/v1/events", {"event_type": f"order{number}.placed", "source": "tests", "payload": {}})
    return answer.json()["event_id"]


def look(daemon, receiver, sinks):
    quiet_claims(daemon, 60)  # a start scans everything
    figures = {"sinks": sinks, "threads": len(list(Path(f"/proc/{daemon.process.pid}/task").iterdir()))}
    if daemon.database:
        figures["connections"], figures["listeners"] = connections(daemon), connections(daemon, "%listener")
    before, cpu, waits = quiet_claims(daemon), cpu_seconds(daemon), []
    for number in range(ROUNDS):
        asked = time.monotonic()
        event = publish_by_http(daemon, number % sinks)
        waits.append(receiver.wait(event) - asked)
    figures["cpu_ms_per_event"] = round(1000 * (cpu_seconds(daemon) - cpu) / ROUNDS, 2)
    figures["claims_per_event"] = round((quiet_claims(daemon) - before) / ROUNDS, 2)
    figures["p50_ms"] = round(1000 * statistics.median(waits), 2)
    if daemon.database:
        before = quiet_claims(daemon)
        for number in range(ROUNDS):
            event = daemon.database.sql(
                f"insert into core.outbox (event_type, source, generation, channel, payload) values ('order{number % sinks}.placed', "
                "'tests', 1, 'outbox_gen_1', '{}') returning id")
            receiver.wait(event)
        figures["claims_per_event_of_others"] = round((quiet_claims(daemon) - before) / ROUNDS, 2)
        figures["connections_after"] = connections(daemon)
    figures["workers"] = len(daemon.get("/v1/workers")["workers"])
    return figures


def check(figures, postgres):
    sinks = figures["sinks"]
    expect(figures["workers"], 1, "workers in the list")
    most = FIXED_THREADS + sinks * (THREADS + 1)
    if figures["threads"] > most:
        sys.exit(f"{figures['threads']} threads with {sinks} sinks: more than {most}")
    if not postgres:
        return
    expect(figures["listeners"], 1, "listener connections")
    most = 1 + SERVICES + min(WORKERS, sinks * THREADS)
    if figures["connections_after"] > most:
        sys.exit(f"{figures['connections_after']} connections with {sinks} sinks: more than {most}")
    # One finds the event and one finds nothing more; the rest are scans that the store owes a pool which has been awake.
    # All threads of all sinks would be forty.
    # About 8 on a quiet machine, more on a busy one, where events gather less. Waking everybody took 165.
    if figures["claims_per_event"] > max(12, sinks):
        sys.exit(f"{figures['claims_per_event']} claims per event that came in by HTTP, with {sinks} sinks")
    if figures["claims_per_event_of_others"] > 4 * sinks + 5:
        sys.exit(f"{figures['claims_per_event_of_others']} claims per event of somebody else, with {sinks} sinks")


def main(sluice, kind, *figures_only):
    receiver = Receiver()
    for sinks in (1, 20):
        with Serving(sluice, kind, configuration(sinks, receiver.url)) as daemon:
            daemon.start()
            figures = look(daemon, receiver, sinks)
            print(figures, flush=True)
            if not figures_only:
                check(figures, kind == "postgres")


main(*sys.argv[1:])
