"""relay.py SLUICE PROGRAMS [flags]: events through a broker that is killed while they flow, with a verdict.

A JetStream cluster of three servers, whose leader is killed again and again, or a Redis with appendfsync always; and on the
way from the relay to the broker answers are lost. Two consumer processes have three handlers each: `chaos.books` shares the
transaction with its dedup row, `chaos.journal` writes to a file, `chaos.picky` refuses some events until it is mended. Every
event must be booked exactly once and journalled at least once, each key in order; what picky refused must show in `sluice dlq
groups`, and a replay must bring it through the broker. Runs under with-postgres."""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from brokers import JetStream, Redis, until

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fresh_database import FreshDatabase

CHUNK = 5000
KEYS = 50
POISON = 20       # events that picky refuses at first
CONSUMERS = 2
STALLED = 180     # seconds without any progress
TABLES = """create table public.effects (n bigint generated always as identity primary key, handler text, event_id uuid);"""
PUBLISH = """insert into core.outbox (event_type, source, generation, payload, ordering_key)
select case when n % {every} = 0 then 'chaos.poison' else 'chaos.happened' end, 'chaos', 1, jsonb_build_object('n', n),
       case when n % 10 = 3 then 'k' || n / 10 % {keys} end
from generate_series({first}, {last}) n"""
DISORDER = """select count(*) from (select o.seq, lag(o.seq) over (partition by o.ordering_key order by e.n) as before
from public.effects e join core.outbox o on o.id = e.event_id where e.handler = 'chaos.books' and o.ordering_key is not null) t
where before > seq"""


class Run:
    def __init__(self, options, folder, database):
        self.options, self.folder, self.database = options, Path(folder), database
        self.broker = (JetStream if options.broker == "nats" else Redis)(folder, options.programs / "tcp_gate")
        self.crew, self.kills = [], []
        self.log = open(self.folder / "log", "w")

    def environment(self, url):
        own = {key: value for key, value in os.environ.items() if not key.startswith(("SLUICE_", "DATABASE_URL"))}
        return own | self.broker.settings | {
            "SLUICE_STORE": self.database.url, "SLUICE_BROKER": url, "SLUICE_BROKER_ACK_WAIT": "15s", "SLUICE_ACTOR": "chaos",
            "HOME": str(self.folder), "CHAOS_JOURNAL": str(self.folder / "journal"), "CHAOS_MENDED": str(self.folder / "mended")}

    def sluice(self, *words):
        return subprocess.run([self.options.sluice, *words], env=self.environment(self.broker.url), capture_output=True, text=True)

    def start(self):
        self.database.sql(TABLES)
        for _ in range(CONSUMERS):
            self.crew.append(subprocess.Popen([self.options.programs / "relay_worker"], env=self.environment(self.broker.url),
                                              stderr=self.log))
        until(lambda: self.count("core.subscriptions") == 3, "that the consumers subscribe")
        # Until the servers have met there is no stream.
        until(lambda: self.sluice("ladder", "relay", self.options.broker, "--reason", "chaos").returncode == 0, "the switch")
        self.crew.append(subprocess.Popen([self.options.sluice, "serve", "--listen", "off"], stderr=self.log,
                                          env=self.environment(self.broker.gated_url)))

    def count(self, what):
        return int(self.database.sql(f"select count(*) from {what}"))

    def booked(self):
        return self.count("public.effects where handler = 'chaos.books'")

    def play(self):
        """Publishes everything, and kills and loses while it is handled."""
        events, begun = self.options.events, time.monotonic()
        due = [events * (place + 1) // (self.options.kills + 1) for place in range(self.options.kills)]
        parts = max(1, self.options.losses)
        published = 0
        last, since = -1, time.monotonic()
        while time.monotonic() - since < STALLED:
            booked = self.booked()
            journalled = self.journalled() if booked >= events else 0
            if booked + journalled != last:
                last, since = booked + journalled, time.monotonic()
            if published < parts and booked >= events * (2 * published - 1) // (2 * parts):
                self.publish(published, parts)
                published += 1
                since = time.monotonic()  # on a busy machine that takes minutes
            if due and booked >= due[0]:
                due.pop(0)
                self.kills.append(self.broker.kill())
                print(f"{booked:,} of {events:,} handled: killed {self.kills[-1]}", flush=True)
            if journalled >= events and self.count("core.outbox where status in ('pending', 'in_flight')") == 0 \
                    and self.count("core.outbox where status = 'failed'") == POISON:
                break
            time.sleep(0.5)
        return time.monotonic() - begun

    def publish(self, part, parts):
        """One part of the events. The answer is set to be lost before them: a relay that is fast has nothing to send later."""
        if part < self.options.losses:
            self.broker.lose_answer()
        events = self.options.events
        end = events * (part + 1) // parts
        for first in range(events * part // parts + 1, end + 1, CHUNK):
            self.database.sql(PUBLISH.format(first=first, last=min(first + CHUNK - 1, end), keys=KEYS, every=events // POISON))

    def journalled(self):
        """Lines: an event that came twice counts twice, and the verdict looks at each."""
        journal = self.folder / "journal"
        return journal.read_bytes().count(b"\n") if journal.exists() else 0

    def replay(self):
        """What the dead letters say, and what is left after they were replayed; as they went, by replays through a relay."""
        groups = json.loads(self.sluice("dlq", "groups", "-o", "json").stdout or "{}")
        shown = [group["count"] for group in groups.get("groups", [])]
        (self.folder / "mended").touch()
        replayed = self.sluice("dlq", "replay", "--all", "--yes", "--reason", "picky is mended")
        if replayed.returncode != 0:
            print(replayed.stderr, file=sys.stderr)
        picked = self.count("public.effects where handler = 'chaos.picky'")
        relayed = self.count("core.outbox where event_type = 'chaos.poison' and claimed_by like '%/relay:%'"
                             " and core.last_cycle(failure_history) = 1 and status = 'delivered'")
        return shown, picked, relayed

    def stop(self):
        for process in self.crew:
            process.send_signal(signal.SIGTERM)
        for process in self.crew:
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.broker.end()
        self.log.close()

    def judge(self, seconds, shown, picked, relayed):
        """[(what, value, whether it is as it must be)]"""
        events = self.options.events
        journal = (self.folder / "journal").read_text().split()
        ids = set(self.database.sql("select id from core.outbox").split())
        effects = self.database.sql("select count(*), count(distinct event_id) from public.effects where handler = 'chaos.books'").split("|")
        disorder = self.database.sql(DISORDER)
        lost = self.broker.lost_answers()
        return [
            ("events", f"{events:,} in {seconds:.0f} s ({events / seconds:,.0f}/s)", True),
            ("kills", ", ".join(self.kills) or "none", len(self.kills) == self.options.kills),
            ("answers lost on the wire", lost, lost >= self.options.losses),
            ("delivered to the broker", self.count("core.outbox where status = 'delivered'"),
             self.count("core.outbox where status = 'delivered'") == events),
            ("booked exactly once", f"{effects[0]} effects of {effects[1]} events", effects == [str(events)] * 2),
            ("journalled at least once", f"{len(journal)} lines of {len(set(journal))} events", ids <= set(journal)),
            ("out of order within a key", disorder, disorder == "0"),
            # Of one that a consumer held when the server died the last attempt may count as a lost claim: another group.
            ("dead letters in `dlq groups`", f"{sum(shown)} in {len(shown)}", sum(shown) == POISON and len(shown) <= 1 + len(self.kills)),
            ("replayed through the broker", relayed, relayed == POISON and picked == POISON),
        ]


def arguments():
    parser = argparse.ArgumentParser(prog="./run chaos relay", description=__doc__.split("\n\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sluice", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("programs", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--broker", choices=("nats", "redis"), default="nats", help="default: %(default)s")
    parser.add_argument("--events", type=int, default=500_000, metavar="N", help="default: %(default)s")
    parser.add_argument("--kills", type=int, default=3, metavar="N", help="of the leader, or of Redis; default: %(default)s")
    parser.add_argument("--losses", type=int, default=3, metavar="N", help="answers lost on the wire; default: %(default)s")
    given = parser.parse_args()
    if given.events < 100 * POISON:
        parser.error(f"--events must be at least {100 * POISON}")
    given.events -= given.events % POISON
    return given


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="sluice-relay.") as folder, FreshDatabase(options.sluice, "chaos_relay") as database:
        run = Run(options, folder, database)
        try:
            run.start()
            seconds = run.play()
            replay = run.replay()
            verdict = run.judge(seconds, *replay)
        finally:
            run.stop()
        for what, value, fine in verdict:
            print(f"{'ok    ' if fine else 'FAILED'}  {what}: {value}")
        if all(fine for _, _, fine in verdict):
            print("verdict: ok")
            return 0
        print((run.folder / "log").read_text()[-4000:], file=sys.stderr)
        print("verdict: FAILED")
        return 1


if __name__ == "__main__":
    sys.exit(main())
