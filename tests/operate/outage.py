"""A shop during an outage: a store, a worker whose handler fails while a marker file exists, and the command line."""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fresh_database import FreshDatabase, psql
from polling import until

KINDS = ("outage.a", "outage.b", "outage.c")


class Outage:
    """`kind` is postgres or sqlite. Use it in a with statement."""

    def __init__(self, sluice, worker, kind):
        self.sluice, self.worker, self.kind = sluice, worker, kind
        self.database = None
        self.workers = []

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.marker = Path(self.folder.name) / "broken"
        if self.kind == "postgres":
            self.database = FreshDatabase(self.sluice, "operate").__enter__()
            self.store = self.database.url
        else:
            self.file = str(Path(self.folder.name) / "shop.db")
            self.store = f"sqlite:{self.file}"
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLUICE_", "DATABASE_URL"))}
        self.environment |= {"SLUICE_STORE": self.store, "SLUICE_ACTOR": "ann@shop", "HOME": self.folder.name,
                             "SLUICE_OPERATIONS_LEASE": "200ms", "SLUICE_HTTP_LISTEN": "127.0.0.1:0"}
        if self.kind == "sqlite":
            self.run("db", "migrate")
        return self

    def __exit__(self, *_):
        for worker in self.workers:
            worker.terminate()
            worker.wait(timeout=60)
        if self.database:
            self.database.__exit__()
        self.folder.cleanup()

    def sql(self, text):
        """The first column of each row; `core.` names the tables on both stores."""
        if self.kind == "postgres":
            return psql(self.store, text).splitlines()
        connection = sqlite3.connect(self.file, timeout=30)
        with connection:
            rows = [str(row[0]) for row in connection.execute(text.replace("core.", ""))]
        connection.close()
        return rows

    def publish(self, count):
        """As many events of the three kinds in turn."""
        if self.kind == "postgres":
            self.sql(f"select count(core.outbox_publish((array['outage.a','outage.b','outage.c'])[1 + n % 3], "
                     f"jsonb_build_object('n', n), p_generation => 1)) from generate_series(0, {count - 1}) n")
            return
        self.publish_payloads([json.dumps({"n": n}) for n in range(count)])

    def publish_payloads(self, payloads):
        """One event for each text, of the three kinds in turn; SQLite only, which keeps the text."""
        connection = sqlite3.connect(self.file, timeout=30)
        with connection:
            connection.executemany(
                "insert into outbox (event_type, source, generation, channel, payload) values (?, 'shop', 1, 'outbox_gen_1', ?)",
                [(KINDS[n % 3], payload) for n, payload in enumerate(payloads)])
        connection.close()

    def start_worker(self):
        worker = subprocess.Popen([self.worker, self.store, "1", str(self.marker)], env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.workers.append(worker)
        if worker.stdout.readline().strip() != "ready":
            sys.exit("the worker did not start")

    def breaks(self):
        self.marker.touch()

    def is_mended(self):
        self.marker.unlink()

    def start(self, *words):
        return subprocess.Popen([self.sluice, *words], env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def run(self, *words, wanted=0):
        """The command's standard output; it must end with `wanted`."""
        done = subprocess.run([self.sluice, *words], env=self.environment, capture_output=True, text=True, timeout=300)
        if done.returncode != wanted:
            sys.exit(f"sluice {' '.join(words)}: exit {done.returncode}, expected {wanted}\n{done.stdout}{done.stderr}")
        return done.stdout + (done.stderr if wanted == 0 and not done.stdout else "")

    def json(self, *words, wanted=0):
        return json.loads(self.run(*words, "-o", "json", wanted=wanted))

    def await_dead(self, count):
        """Asks until so many events are dead."""
        until(lambda: self.json("dlq", "count")["count"] >= count)


def expect(actual, wanted, what):
    if actual != wanted:
        sys.exit(f"{what}: {actual!r}, expected {wanted!r}")
