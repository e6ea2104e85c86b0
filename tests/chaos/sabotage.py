#!/usr/bin/env python3
"""sabotage.py SLUICE PROGRAMS [flags]: spoils what claims go by, behind the back of Sluice, and sees the patrol heal it.

Marks far ahead, a sequence that was set back, a sequence that hands out numbers in packs, rows that were restored with their
old numbers, claims that were deleted. A worker with the patrol on must deliver every event, and each stranded one must be
recorded with its cause. Runs under with-postgres."""
import argparse
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from crew import Gate, Process, environment
from stores import psql

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fresh_database import FreshDatabase

EVENTS, POLL = 200, 0.2
PATIENCE = 40  # beats of the patrol; what takes longer than that was not healed
PUBLISH = """select count(core.outbox_publish('x.' || n % 7, '{{}}', p_source => 'tests', p_generation => 1, p_ordering_key =>
             case when n % 4 = 0 then 'k' || n / 4 % 10 end)) from generate_series(1, {}) n;"""
LEFT = "select count(*) from core.outbox where status <> 'delivered'"


class Case:
    """One store, one worker at a time, one kind of sabotage."""

    def __init__(self, options, folder, url, through, how, delay, pattern):
        self.options, self.folder, self.url, self.through = options, folder, url, through
        self.how, self.pattern, self.worker = how, pattern, None
        self.configuration = folder / "sluice.toml"
        self.configuration.write_text(f'[subscriptions."tests.backlog"]\nevents = ["{pattern}"]\nsink = "log"\n')

    def sql(self, text):
        return psql(self.url, text)

    def publish(self, count=EVENTS):
        self.sql(PUBLISH.format(count))

    def start(self):
        beat, poll = f"{int(1000 * self.options.beat)}ms", f"{int(1000 * POLL)}ms"
        if self.how == "library":
            self.worker = Process([self.options.programs / "backlog_worker", self.through, self.options.threads, self.pattern,
                                   int(1000 * POLL), int(1000 * self.options.beat)], self.folder / "errors")
        else:
            self.worker = Process([self.options.sluice, "serve", "--config", self.configuration, "--listen", "127.0.0.1:0", "--threads",
                                   self.options.threads, "--poll-interval", poll, "--log-level", "error", "-o", "json"],
                                  self.folder / "errors",
                                  environment(self.through, self.folder) | {
                                      "SLUICE_WORKER_SAFETY_POLL_INTERVAL": poll, "SLUICE_PATROL_ENABLED": "true",
                                      "SLUICE_PATROL_INTERVAL": beat, "SLUICE_PATROL_OVERLOOKED_AFTER": beat,
                                      "SLUICE_PATROL_SETTLED_AGAIN": beat})
        if not self.worker.was_ready.wait(60):
            raise RuntimeError("the worker did not start: " + (self.folder / "errors").read_text()[-2000:])

    def end(self):
        if self.worker is None:
            return
        self.worker.end()
        if self.how == "daemon":
            self.worker.signal(signal.SIGTERM)
        if self.worker.wait(60) is None:
            self.worker.kill()
        self.worker = None

    def drained(self):
        """Seconds until nothing was left, or None."""
        begun = time.monotonic()
        while time.monotonic() - begun < PATIENCE * self.options.beat:
            if self.sql(LEFT) == "0":
                return time.monotonic() - begun
            time.sleep(POLL / 4)
        return None

    def delivered_once(self):
        """Starts a worker and lets it deliver a first lot, so that there are marks; then ends it."""
        self.publish()
        self.start()
        if self.drained() is None:
            raise RuntimeError("the first lot was not delivered")
        # Until the marks have followed.
        until = time.monotonic() + 30
        while time.monotonic() < until and self.sql("select bool_and(low >= (select max(seq) from core.outbox)) "
                                                    "from core.claim_cursors where group_key <> ''") != "t":
            time.sleep(POLL / 4)
        self.end()


def marks_ahead(case):
    case.delivered_once()
    case.sql("update core.claim_cursors set low = low + 100000, mark = mark + 100000")
    case.publish()
    return "passed_over"


def sequence_set_back(case):
    case.delivered_once()
    case.sql("select setval('core.outbox_seq', 1, false)")
    case.publish(EVENTS // 2)
    return "passed_over"


def sequence_in_packs(case):
    """One session keeps a pack of numbers while others pass it."""
    case.sql("alter sequence core.outbox_seq cache 50")
    keeper = subprocess.Popen([f"{os.environ['SLUICE_TEST_POSTGRES_BIN']}/psql", case.url, "-XqAt"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        keeper.stdin.write(PUBLISH.format(1) + "\n")
        keeper.stdin.flush()
        keeper.stdout.readline()
        case.delivered_once()
        keeper.stdin.write(PUBLISH.format(40) + "\n")
        keeper.stdin.flush()
        keeper.stdout.readline()
    finally:
        keeper.stdin.close()
        keeper.wait()
    return "passed_over"


def rows_restored(case):
    """As a restore does it: no triggers, old numbers, and pending as they were in the dump."""
    case.publish()
    case.sql("create table public.dump as select * from core.outbox")
    case.start()
    if case.drained() is None:
        raise RuntimeError("the first lot was not delivered")
    # Until the patrol has seen it all settled would take ten minutes: what it remembers of such slices is written here.
    case.end()
    case.sql("""set session_replication_role = replica;
                delete from core.outbox;
                insert into core.outbox select * from public.dump;
                insert into core.patrol_slices (generation, slice, settled_at) values (1, 0, now())
                on conflict (generation, slice) do update set settled_at = now();""")
    return "passed_over"


def claims_deleted(case):
    case.publish()
    # In flight and nobody's: as a dump taken from under a worker has it.
    case.sql("""select core.outbox_claim(1, 'gone', 50, interval '1 hour', 0, null, null, null, null, true);
                delete from core.claims;""")
    return "no_claim"


KINDS = {"marks-ahead": marks_ahead, "sequence-set-back": sequence_set_back, "sequence-in-packs": sequence_in_packs,
         "rows-restored": rows_restored, "claims-deleted": claims_deleted}


def run(options, template, number, kind, how, delay, pattern):
    server = template.server
    name = f"{template.name}_{number}"
    port = int(re.search(r":(\d+)/", server).group(1))
    psql(server, f"create database {name} template {template.name} strategy file_copy")
    url = server.rsplit("/", 1)[0] + "/" + name
    gate = Gate(options.programs / "tcp_gate", port, number)
    gate(f"delay {int(1000 * delay)} {int(500 * delay)}")
    folder = Path(tempfile.mkdtemp(prefix="sluice-sabotage."))
    case = Case(options, folder, url, url.replace(f":{port}/", f":{gate.port}/"), how, delay, pattern)
    try:
        cause = KINDS[kind](case)
        stranded = int(psql(url, LEFT))
        case.start()
        took = case.drained()
        told = int(psql(url, f"select count(*) from core.stranded where cause = '{cause}'"))
        good = took is not None and stranded > 0 and told > 0
        print(f"{kind:18}{how:8} {delay:g} ms  {pattern:4}: "
              + (f"{told} counted as {cause}, all {stranded} delivered after {took:.1f} s, a round every {options.beat:g} s"
                 if good else f"FAILED: of {stranded} left {psql(url, LEFT)}, {told} counted as {cause}"), flush=True)
        case.end()
        return good
    finally:
        if case.worker:
            case.worker.kill()
        gate.close()
        psql(server, f"drop database {name} with (force)")
        shutil.rmtree(folder)


def main():
    listed = lambda kind: lambda text: [kind(each) for each in text.split(",")]
    parser = argparse.ArgumentParser(prog="./run chaos sabotage", description=__doc__.split("\n")[0])
    parser.add_argument("sluice")
    parser.add_argument("programs", type=Path)
    parser.add_argument("--kinds", type=listed(str), default=list(KINDS), help="default: " + ",".join(KINDS))
    parser.add_argument("--how", type=listed(str), default=["daemon", "library"])
    parser.add_argument("--delays", type=listed(float), default=[0, 3])
    parser.add_argument("--patterns", type=listed(str), default=["x.*", "*"])
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--beat", type=float, default=3, help="seconds between two rounds of the patrol, short and long; default 3")
    options = parser.parse_args()
    unknown = set(options.kinds) - set(KINDS)
    if unknown:
        sys.exit(f"sabotage: unknown kind {', '.join(sorted(unknown))}; known: {', '.join(KINDS)}")
    with FreshDatabase(options.sluice, "sabotage") as template:
        cases = itertools.product(options.kinds, options.how, options.delays, options.patterns)
        results = [run(options, template, number, *case) for number, case in enumerate(cases, 1)]
    print(f"{'PASS' if all(results) else 'FAIL'}: {len(results)} sabotaged stores, {results.count(True)} healed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    if "SLUICE_TEST_POSTGRES" not in os.environ:
        sys.exit("sabotage.py runs under tests/support/with-postgres")
    sys.exit(main())
