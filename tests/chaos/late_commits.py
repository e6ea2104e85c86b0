#!/usr/bin/env python3
"""late_commits.py SLUICE PROGRAMS [flags]: publishers that commit long after everybody has passed their numbers.

Sessions publish and stay open while many other events pass; then they commit, in another order than they published, some of
them after a savepoint that was rolled back; and a prepared transaction outlives a crash of the server. Two workers, a daemon
and a library program, are at work all the time, the patrol is off. Tells how long after its commit each event was delivered,
by the database's clock. Runs under with-postgres."""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from crew import Gate, Process, environment
from stores import PostgresStore, psql

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

PACK = 1000
PATIENCE = 60  # seconds after the last commit; what takes longer counts as stranded
PUBLISH = "select core.outbox_publish('{type}', '{{}}', p_source => 'tests', p_generation => 1{key})"


class Session:
    """A psql that answers line by line."""

    def __init__(self, url):
        self.child = subprocess.Popen([f"{os.environ['SLUICE_TEST_POSTGRES_BIN']}/psql", url, "-XqAt", "-v", "ON_ERROR_STOP=1"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def __call__(self, sql):
        """What it printed."""
        self.child.stdin.write(f"{sql};\n\\echo done\n")
        self.child.stdin.flush()
        lines = []
        for line in self.child.stdout:
            if line == "done\n":
                return "".join(lines).strip()
            lines.append(line)
        raise RuntimeError(f"psql: {''.join(lines).strip()}\n{sql}")

    def close(self):
        self.child.stdin.close()
        self.child.wait()


class LateCommits:
    def __init__(self, options, doorbell):
        self.options, self.doorbell = options, doorbell
        self.folder = Path(tempfile.mkdtemp(prefix="sluice-late."))
        self.workers, self.sessions = [], []

    def run(self):
        """The events, how many of them were not delivered, and the longest wait in seconds."""
        with PostgresStore(self.options.sluice, f"late_{self.doorbell.replace('-', '_')}") as self.store:
            gate = Gate(self.options.programs / "tcp_gate", self.store.server_port, 1)
            gate(f"delay {int(1000 * self.options.delay)} {int(500 * self.options.delay)}")
            try:
                self._start(self.store.through(gate.port))
                self._sessions()
                if self.options.prepared and self.doorbell == "when-idle":
                    self._prepared()
                return self._verdict()
            finally:
                for session in self.sessions:
                    session.close()
                for worker in self.workers:
                    worker.kill()
                gate.close()
                shutil.rmtree(self.folder)

    def _start(self, url):
        subprocess.run([self.options.sluice, "db", "doorbell", self.doorbell, "--reason", "late commits"], check=True,
                       env=environment(self.store.url, self.folder), capture_output=True)
        # The handler first: an event that nobody subscribes to is not late.
        self.workers.append(Process([self.options.programs / "backlog_worker", url, 4, "*", 5000], self.folder / "errors"))
        (self.folder / "sluice.toml").write_text('[subscriptions."tests.late"]\nevents = ["late.*", "x.*"]\nsink = "log"\n')
        self.workers.append(Process([self.options.sluice, "serve", "--config", self.folder / "sluice.toml", "--listen", "127.0.0.1:0",
                                     "--threads", "4", "--log-level", "error", "-o", "json"], self.folder / "errors",
                                    environment(url, self.folder)))
        for worker in self.workers:
            if not worker.was_ready.wait(60):
                raise RuntimeError("a worker did not start: " + (self.folder / "errors").read_text()[-2000:])
        self.store.sql("create table public.committed (id uuid primary key, at timestamptz not null)")
        self.store.sql("""
            create table public.steps (id uuid, status text, by text, at timestamptz not null default clock_timestamp());
            create function public.note_step() returns trigger language plpgsql security definer as $$ begin
                insert into public.steps values (new.id, new.status || coalesce(' again ' || new.lane, ''), new.claimed_by);
                return null;
            end $$;
            create trigger note_step after update on core.outbox for each row when (new.event_type = 'late.event')
            execute function public.note_step()""")

    def _publish(self, session, number):
        key = f", p_ordering_key => 'late{number % 5}'" if number % 3 == 0 else ""
        if number % 4 == 0:
            session("savepoint s")
            session(PUBLISH.format(type="late.undone", key=key))
            session("rollback to savepoint s")
            session("savepoint s")
        identity = session(PUBLISH.format(type="late.event", key=key))
        if number % 4 == 0:
            session("release savepoint s")
        return identity

    def _committed(self, session, identities):
        """The commit, and beside each event when it had returned: by the clock of the server."""
        session("commit")
        values = ", ".join(f"('{identity}')" for identity in identities)
        session(f"insert into public.committed select v.id::uuid, clock_timestamp() from (values {values}) v(id)")

    # The numbers are drawn first and committed last; half of the sessions end while others have just begun.
    def _sessions(self):
        source = random.Random(self.options.seed)
        begun = time.monotonic()
        early = [self._opened(number) for number in range(self.options.events // 2)]
        self._pass(self.options.passing // 2)
        late = [self._opened(number) for number in range(self.options.events // 2, self.options.events)]
        source.shuffle(early)
        for session, identity in early[:len(early) // 2]:
            self._committed(session, [identity])
        self._pass(self.options.passing // 2)
        rest = early[len(early) // 2:] + late
        source.shuffle(rest)
        while time.monotonic() - begun < self.options.hold:
            time.sleep(0.1)
        for session, identity in rest:
            self._committed(session, [identity])

    def _opened(self, number):
        session = Session(self.store.url)
        self.sessions.append(session)
        session("begin")
        return session, self._publish(session, number)

    def _pass(self, count):
        for first in range(0, count, PACK):
            keyed = f", p_ordering_key => case when n % 4 = 0 then 'k' || ({first} + n) / 4 % 5000 end"
            self.store.sql(f"select count({PUBLISH.format(type='x.passing', key=keyed)[7:]}) from generate_series(1, {min(PACK, count - first)}) n")
        while self.store.sql_patiently("select exists (select from core.outbox where event_type = 'x.passing' and status <> 'delivered')") != "f":
            time.sleep(0.1)

    # PostgreSQL refuses to prepare a transaction that has notified. With the doorbell `when-idle` it has not while a worker is
    # busy; with `always` there is nothing to try.
    def _prepared(self):
        for _ in range(200):
            session = Session(self.store.url)
            self.sessions.append(session)
            session("begin")
            identity = self._publish(session, 1)
            try:
                session("prepare transaction 'late'")
                break
            except RuntimeError as error:
                if "NOTIFY" not in str(error):
                    raise
                self.store.sql(f"select count({PUBLISH.format(type='x.passing', key='')[7:]}) from generate_series(1, {PACK}) n")
        else:
            raise RuntimeError("every worker slept whenever an event was published")
        self._pass(self.options.passing // 10)
        self.store.crash()
        self.store.sql_patiently("select 1")
        self._pass(1)  # the workers are back
        session = Session(self.store.url)
        self.sessions.append(session)
        session("commit prepared 'late'")
        session(f"insert into public.committed values ('{identity}', clock_timestamp())")

    def _verdict(self):
        until = time.monotonic() + PATIENCE
        left = "select count(*) from public.committed c join core.outbox o using (id) where o.status <> 'delivered'"
        while self.store.sql_patiently(left) != "0" and time.monotonic() < until:
            time.sleep(0.1)
        count, stranded, longest = self.store.sql("""
            select count(*), count(*) filter (where o.status <> 'delivered'),
                   round(coalesce(max(extract(epoch from o.delivered_at - c.at)), 0), 2)
            from public.committed c join core.outbox o using (id)""").split("|")
        for line in self._slowest().splitlines():
            print("  " + line)
        return int(count), int(stranded), float(longest)

    def _slowest(self):
        """What happened to the slowest events, in seconds after the commit."""
        return self.store.sql(f"""
            select format('%s%s: %s', c.seq, ' with key ' || c.ordering_key,
                          (select string_agg(format('%s %s by %s', round(extract(epoch from s.at - c.at), 2), s.status, s.by), ', ' order by s.at)
                           from public.steps s where s.id = c.id))
            from (select o.id, o.seq, o.ordering_key, c.at, o.delivered_at from public.committed c join core.outbox o using (id)
                  order by o.delivered_at - c.at desc limit {self.options.slowest}) c""")


def main():
    parser = argparse.ArgumentParser(prog="./run chaos late", description=__doc__.split("\n")[0])
    parser.add_argument("sluice")
    parser.add_argument("programs", type=Path)
    parser.add_argument("--events", type=int, default=50, help="that are committed late; default 50")
    parser.add_argument("--passing", type=int, default=200_000, help="events that pass meanwhile; default 200000")
    parser.add_argument("--hold", type=float, default=90, help="seconds from the first publish to the last commits; default 90")
    parser.add_argument("--delay", type=float, default=3, help="milliseconds between the workers and the server; default 3")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slowest", type=int, default=0, help="tell what happened to so many of the slowest events; default 0")
    parser.add_argument("--doorbells", type=lambda text: text.split(","), default=["always", "when-idle"])
    parser.add_argument("--prepared", action=argparse.BooleanOptionalAction, default=True, help="a prepared transaction across a crash")
    options = parser.parse_args()
    bad = 0
    for doorbell in options.doorbells:
        count, stranded, longest = LateCommits(options, doorbell).run()
        bad += stranded
        print(f"doorbell {doorbell}: {count} late commits while {options.passing} events passed, {stranded} stranded, "
              f"delivered {longest:g} s after the commit at the latest", flush=True)
    print(f"{'FAIL' if bad else 'PASS'}: {bad} stranded")
    return 1 if bad else 0


if __name__ == "__main__":
    if "SLUICE_TEST_POSTGRES" not in os.environ:
        sys.exit("late_commits.py runs under tests/support/with-postgres")
    sys.exit(main())
