#!/usr/bin/env python3
"""backlog_starts.py SLUICE PROGRAMS [flags]: starts workers on a backlog, again and again, and counts what they leave behind.

400 events are published while nobody works. Then one worker starts, its database as far away as the gate says, and works
until everything is delivered, or until nothing has changed over several of its safety polls. No fault is involved, and the
patrol is switched off where the build has one: what is still pending then is stranded. Runs under with-postgres."""
import argparse
import concurrent.futures
import itertools
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

from crew import Gate, Process, environment
from stores import psql

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fresh_database import FreshDatabase

EVENTS, POLL = 400, 0.2
QUIET_POLLS = 15  # without any change; the worker looks behind its marks about once a second
PUBLISH = """select count(core.outbox_publish('x.' || n % 7, '{{}}', p_source => 'tests', p_generation => 1{key}))
             from generate_series({first}, {last}) n"""
# A quarter of the events is keyed, each start in another way: evenly or at random, over few keys or many, or the oldest.
KEYS = ["case when n % 4 = 0 then 'k' || n / 4 % 3 end", "case when n <= 100 then 'k' || n % 5 end",
        "case when random() < 0.25 then 'k' || floor(random() * 5) end", "case when n % 4 = 0 then 'k' || n / 4 % 10 end",
        "case when random() < 0.25 then 'k' || floor(random() * 20) end"]
STATE = "select status, count(*), sum(claim_seq) from core.outbox group by 1 order by 1"


def arguments():
    listed = lambda kind: lambda text: [kind(each) for each in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sluice")
    parser.add_argument("programs", type=Path)
    parser.add_argument("--starts", type=int, default=10, help="of each combination; default 10")
    parser.add_argument("--threads", type=listed(int), default=[1, 2, 4, 8])
    parser.add_argument("--delays", type=listed(float), default=[0, 1, 3, 10], help="milliseconds, each way, and half of it as jitter")
    parser.add_argument("--keys", type=listed(str), default=["keys", "none"], help="keys: a quarter of the events has one")
    parser.add_argument("--patterns", type=listed(str), default=["x.*", "*"])
    parser.add_argument("--how", type=listed(str), default=["daemon", "library"])
    parser.add_argument("--jobs", type=int, default=1, help="starts at the same time; default 1")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


class Starts:
    def __init__(self, options):
        self.options = options
        self.folder = Path(tempfile.mkdtemp(prefix="sluice-backlog."))
        self.numbers, self.results, self.lock = itertools.count(1), {}, threading.Lock()
        for number, pattern in enumerate(options.patterns):
            self._configuration(pattern).write_text(f'[subscriptions."tests.backlog"]\nevents = ["{pattern}"]\nsink = "log"\n')

    def _configuration(self, pattern):
        return self.folder / f"{self.options.patterns.index(pattern)}.toml"

    def run(self):
        o = self.options
        combinations = list(itertools.product(o.how, o.threads, o.delays, o.keys, o.patterns))
        with FreshDatabase(o.sluice, "backlog") as self.template, concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            for combination in combinations:
                self.results[combination] = []
            done = {combination: [pool.submit(self._start, *combination) for _ in range(o.starts)] for combination in combinations}
            for combination, starts in done.items():
                self.results[combination] = [start.result() for start in starts]
                self._tell(combination)
        shutil.rmtree(self.folder)
        return self._verdict()

    def _start(self, how, threads, delay, keys, pattern):
        """How many events are stranded."""
        number = next(self.numbers)
        key = f", p_ordering_key => {KEYS[number % self.options.starts % len(KEYS)]}" if keys == "keys" else ""
        name = f"{self.template.name}_{number}"
        server = self.template.server
        psql(server, f"create database {name} template {self.template.name} strategy file_copy")
        url = server.rsplit("/", 1)[0] + "/" + name
        port = int(re.search(r":(\d+)/", server).group(1))
        gate = Gate(self.options.programs / "tcp_gate", port, number)
        gate(f"delay {int(1000 * delay)} {int(500 * delay)}")
        worker = None
        try:
            for first in range(1, EVENTS, 100):
                psql(url, PUBLISH.format(first=first, last=first + 99, key=key))
            worker = self._worker(how, threads, pattern, url.replace(f":{port}/", f":{gate.port}/"))
            stranded = self._await_quiet(url, worker)
            worker.end()
            if how == "daemon":
                worker.signal(signal.SIGTERM)
            if worker.wait(60) != 0:
                raise RuntimeError(f"the worker ended with {worker.ended()}: " + (self.folder / "errors").read_text()[-2000:])
            return stranded
        finally:
            if worker and worker.ended() is None:
                worker.kill()
            gate.close()
            psql(server, f"drop database {name} with (force)")

    def _worker(self, how, threads, pattern, url):
        if how == "library":
            return Process([self.options.programs / "backlog_worker", url, threads, pattern, int(1000 * POLL)], self.folder / "errors")
        poll = f"{int(1000 * POLL)}ms"
        return Process([self.options.sluice, "serve", "--config", self._configuration(pattern), "--listen", "127.0.0.1:0",
                        "--threads", threads, "--poll-interval", poll, "--log-level", "error", "-o", "json"], self.folder / "errors",
                       environment(url, self.folder) | {"SLUICE_WORKER_SAFETY_POLL_INTERVAL": poll})

    def _await_quiet(self, url, worker):
        if not worker.was_ready.wait(60):
            raise RuntimeError("the worker did not start: " + (self.folder / "errors").read_text()[-2000:])
        last, changed = None, time.monotonic()
        while True:
            state = psql(url, STATE)
            if state.startswith(f"delivered|{EVENTS}|"):
                return 0
            if state != last:
                last, changed = state, time.monotonic()
            elif time.monotonic() - changed > QUIET_POLLS * POLL and "in_flight" not in state:
                return int(psql(url, "select count(*) from core.outbox where status <> 'delivered'"))
            time.sleep(POLL / 4)

    def _tell(self, combination):
        how, threads, delay, keys, pattern = combination
        stranded = [count for count in self.results[combination] if count]
        print(f"{how:8}{threads} threads {delay:4g} ms  {keys:5}{pattern:4} {len(self.results[combination])} starts: "
              + (f"{len(stranded)} stranded events: {', '.join(map(str, stranded))}" if stranded else "0 stranded"), flush=True)

    def _verdict(self):
        starts = [count for counts in self.results.values() for count in counts]
        bad = sum(1 for count in starts if count)
        if self.options.json:
            rows = [dict(zip(("how", "threads", "delay", "keys", "pattern"), combination)) | {"stranded": counts}
                    for combination, counts in self.results.items()]
            Path(self.options.json).write_text(json.dumps(rows, indent=1) + "\n")
        print(f"{'FAIL' if bad else 'PASS'}: {len(starts)} starts on a backlog of {EVENTS} events, {bad} of them stranded "
              f"{sum(starts)} events")
        return 1 if bad else 0


if __name__ == "__main__":
    if "SLUICE_TEST_POSTGRES" not in os.environ:
        sys.exit("backlog_starts.py runs under tests/support/with-postgres")
    sys.exit(Starts(arguments()).run())
