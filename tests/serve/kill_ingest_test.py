"""kill_ingest_test.py SLUICE postgres|sqlite [KILLS]: kill -9 of the daemon while clients publish. Every event whose request got a 2xx is
stored and ends delivered or failed; a batch is stored as a whole or not at all; sending again what was not answered is safe.

SEED=n repeats the moments of the kills, as well as processes can be repeated."""
import http.client
import json
import os
import random
import socket
import sqlite3
import sys
import threading
import uuid

from serving import Serving, expect, psql, until

CLIENTS = 8
BATCH = 10
LONGEST_DRAIN_SECONDS = 240
CONFIGURATION = """\
[worker]
claim_ttl = "2s"

[sinks.nowhere]
kind = "http"
url = "http://127.0.0.1:{closed}/"
allow = ["127.0.0.1"]
breaker_failures = 10000

[subscriptions."ingest.log"]
events = ["ingest.*"]
sink = "log"

[subscriptions."ingest.doomed"]
events = ["ingest.doomed"]
sink = "nowhere"
retry = {{ attempts = 2, base = "10ms", cap = "10ms", jitter = "none" }}
"""


def closed_port():
    """A socket that keeps a port and refuses every connection."""
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    return closed


class Ledger:
    """What was sent and what was answered, kept outside the store."""

    def __init__(self):
        self.lock = threading.Lock()
        self.acknowledged = 0
        self.requests = []  # lists of ids
        self.open = []      # those that got no answer

    def sent(self, ids, answered):
        with self.lock:
            if answered:
                self.requests.append(ids)
                self.acknowledged += len(ids)
            else:
                self.open.append(ids)


def body_of(ids):
    events = [{"event_id": one, "event_type": "ingest.doomed" if int(one[-1], 16) == 0 else "ingest.good", "source": "shop"} for one in ids]
    return json.dumps(events[0] if len(events) == 1 else {"events": events})


def post(connection, ids):
    connection.request("POST", "/v1/events", body_of(ids), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read().decode()
    if not 200 <= answer.status < 300:
        sys.exit(f"a publish: {answer.status} {text}")


class Load:
    """Clients that publish until the daemon is gone."""

    def __init__(self, port, ledger):
        self.port, self.ledger = port, ledger
        self.threads = [threading.Thread(target=self.client, args=(number,)) for number in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def client(self, number):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        while True:
            ids = [str(uuid.uuid4()) for _ in range(BATCH if number % 4 == 0 else 1)]
            try:
                post(connection, ids)
            except (OSError, http.client.HTTPException):
                self.ledger.sent(ids, answered=False)
                return
            self.ledger.sent(ids, answered=True)

    def join(self):
        for thread in self.threads:
            thread.join()


def stored(daemon):
    """id → status"""
    if daemon.kind == "postgres":
        rows = (line.split("|") for line in psql(daemon.store, "select id, status from core.outbox").splitlines())
    else:
        connection = sqlite3.connect(daemon.folder / "serve.db", timeout=60)
        rows = connection.execute("select id, status from outbox").fetchall()
        connection.close()
    return {str(row[0]): row[1] for row in rows}


def kill_under_load(daemon, ledger, wanted):
    daemon.start()
    before = ledger.acknowledged
    load = Load(daemon.port, ledger)
    while ledger.acknowledged - before < wanted:
        expect(daemon.process.poll(), None, "the daemon under load")
        daemon.call("GET", "/healthz")
    daemon.kill()
    load.join()


def check_batches(ledger, rows):
    for ids in ledger.open:
        expect(len([one for one in ids if one in rows]) in (0, len(ids)), True, "a batch that was not answered is stored in part")


def send_again(daemon, ledger):
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
    for ids in ledger.open:
        post(connection, ids)
        ledger.requests.append(ids)
    ledger.open = []


def await_drained(daemon):
    def drained():
        return all(one["pending"] + one["in_flight"] == 0 for one in daemon.get("/v1/status")["generations"])

    if not until(drained, patience=LONGEST_DRAIN_SECONDS):
        sys.exit(f"not drained: {daemon.get('/v1/status')['generations']}")


def main():
    sluice, kind = sys.argv[1:3]
    kills = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    print(f"SEED={seed}", flush=True)
    moments = random.Random(seed)
    ledger = Ledger()
    with closed_port() as closed, Serving(sluice, kind, CONFIGURATION.format(closed=closed.getsockname()[1])) as daemon:
        for _ in range(kills):
            kill_under_load(daemon, ledger, moments.randint(30, 300))
        check_batches(ledger, stored(daemon))
        unanswered = len(ledger.open)
        daemon.start()
        send_again(daemon, ledger)
        await_drained(daemon)
        rows = stored(daemon)
        promised = [one for ids in ledger.requests for one in ids]
        lost = [one for one in promised if one not in rows]
        expect(lost, [], "events that were acknowledged and are not stored")
        expect(sorted({rows[one] for one in promised} - {"delivered", "failed"}), [], "states in which events were left")
        wrong = [one for one in promised if (rows[one] == "failed") != (int(one[-1], 16) == 0)]
        expect(wrong, [], "events that did not end as their handlers say")
        daemon.stop()
    print(f"{kills} kills, {len(promised)} events acknowledged, none lost; {unanswered} requests were not answered and sent again")


main()
