"""The stores of a campaign: a database of a server that may be crashed, or a file. Each round has a fresh one."""
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fresh_database import FreshDatabase, psql

# What the campaign adds. No unique key: a second effect of one event is a second row.
EFFECTS = "create table chaos_effects (number bigint not null, handler text not null)"
# A row per change of a status, written with it: what the store did, not what it says of itself afterwards.
POSTGRES_JOURNAL = """
create table public.chaos_journal (at timestamptz not null, id uuid, key text, old text, new text, claim_before bigint,
                                   claim_after bigint, attempts int, history int);
create function public.chaos_note() returns trigger language plpgsql security definer as $$
begin
    insert into public.chaos_journal values (clock_timestamp(), new.id, new.ordering_key, old.status, new.status, old.claim_seq,
        new.claim_seq, new.attempts, jsonb_array_length(new.failure_history));
    return null;
end $$;
create trigger chaos_note after update on core.outbox for each row when (old.status <> new.status)
execute function public.chaos_note();
"""
SQLITE_JOURNAL = """
create table chaos_journal (at integer primary key, id text, key text, old text, new text, claim_before int, claim_after int,
                            attempts int, history int);
create trigger chaos_note after update on outbox when old.status <> new.status
begin
    insert into chaos_journal (id, key, old, new, claim_before, claim_after, attempts, history)
    values (new.id, new.ordering_key, old.status, new.status, old.claim_seq, new.claim_seq, new.attempts,
            json_array_length(new.failure_history));
end;
"""
STATE = """select status, count(*), coalesce(sum(attempts), 0), coalesce(sum(claim_seq), 0) from {} group by 1"""


# Of the newest events only: the table is large.
BACKLOG = "select count(*) from {0} where seq > (select max(seq) from {0}) - 20000 and status = 'pending'"


def number_of(identity):
    """The end of an event's id; see record.hpp."""
    return int(identity.replace("-", "")[-14:], 16)


class PostgresStore:
    kind = "postgres"

    def __init__(self, sluice, name):
        self.database = FreshDatabase(sluice, f"chaos_{name}")
        self.server_port = int(re.search(r":(\d+)/", self.database.server).group(1))
        self.url = self.database.url

    def __enter__(self):
        self.database.__enter__()
        return self

    def __exit__(self, *_):
        self.sql_patiently(f"drop database {self.database.name} with (force)", self.database.server)

    def through(self, port):
        """Its address behind a gate."""
        return self.url.replace(f":{self.server_port}/", f":{port}/")

    def prepare(self, journal):
        self.database.sql(EFFECTS + ";" + (POSTGRES_JOURNAL if journal else ""))

    def sql(self, text):
        return self.database.sql(text)

    def sql_patiently(self, text, url=None):
        """A server that was crashed a moment ago may still be on its way up."""
        for _ in range(600):
            try:
                return psql(url or self.url, text)
            except RuntimeError as error:
                last = error
                time.sleep(0.05)
        raise last

    def state(self):
        return self.sql_patiently(STATE.format("core.outbox") + " order by 1")

    def backlog(self):
        """How many wait; None when nobody can say."""
        try:
            return int(self.sql(BACKLOG.format("core.outbox")))
        except RuntimeError:
            return None

    def crash(self):
        command = [f"{os.environ['SLUICE_TEST_POSTGRES_BIN']}/pg_ctl", "-D", os.environ["SLUICE_TEST_POSTGRES_DATA"], "-m",
                   "immediate", "-w", "-t", "120", "-l", f"{os.environ['SLUICE_TEST_POSTGRES_DATA']}/../log", "restart"]
        if os.getuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def dump(self, folder, journal):
        number = "('x' || right(replace({}::text, '-', ''), 14))::bit(56)::bigint"
        self._copy(folder / "outbox.csv", f"select {number.format('id')}, status, attempts, coalesce(failure_class, '') from core.outbox")
        self._copy(folder / "effects.csv", "select number, handler, count(*) from chaos_effects group by 1, 2")
        if journal:
            self._copy(folder / "journal.csv", f"""select extract(epoch from at), {number.format('id')}, key, old, new, claim_before,
                claim_after, attempts, history from chaos_journal order by at""")

    def _copy(self, path, query):
        path.write_text(self.sql_patiently(f"copy ({query}) to stdout with (format csv)"))


class SqliteStore:
    kind = "sqlite"

    def __init__(self, sluice, name, folder):
        self.sluice = sluice
        self.path = folder / f"{name}.db"
        self.url = f"sqlite:{self.path}"

    def __enter__(self):
        subprocess.run([self.sluice, "db", "migrate", "--store", self.url], check=True, capture_output=True)
        return self

    def __exit__(self, *_):
        for path in self.path.parent.glob(self.path.name + "*"):
            path.unlink()

    def _open(self):
        return sqlite3.connect(self.path, timeout=60, isolation_level=None)

    def prepare(self, journal):
        self._open().executescript(EFFECTS + ";" + (SQLITE_JOURNAL if journal else ""))

    def state(self):
        return repr(self._open().execute(STATE.format("outbox") + " order by 1").fetchall())

    def backlog(self):
        try:
            return self._open().execute(BACKLOG.format("outbox")).fetchone()[0]
        except sqlite3.OperationalError:  # the disk is full
            return None

    def dump(self, folder, journal):
        self._copy(folder / "outbox.csv", "select id, status, attempts, coalesce(failure_class, '') from outbox", 0)
        self._copy(folder / "effects.csv", "select number, handler, count(*) from chaos_effects group by 1, 2", None)
        if journal:
            self._copy(folder / "journal.csv", """select at, id, coalesce(key, ''), old, new, claim_before, claim_after, attempts,
                history from chaos_journal order by at""", 1)

    def _copy(self, path, query, identity):
        with open(path, "w") as out:
            for row in self._open().execute(query):
                row = list(row)
                if identity is not None:
                    row[identity] = number_of(row[identity])
                out.write(",".join(map(str, row)) + "\n")


class SmallDisk:
    """A folder on a disk of its own that can be filled up; None of it without the right to mount one."""

    def __init__(self, megabytes):
        self.folder = Path(tempfile.mkdtemp(prefix="sluice-disk."))
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", self.folder], capture_output=True)
        self.mounted = done.returncode == 0

    def fill(self):
        left = os.statvfs(self.folder)
        with open(self.folder / "filler", "wb") as filler:
            try:
                os.posix_fallocate(filler.fileno(), 0, max(1, left.f_bavail * left.f_frsize))
            except OSError:
                pass

    def clear(self):
        (self.folder / "filler").unlink(missing_ok=True)

    def close(self):
        if self.mounted:
            subprocess.run(["umount", "-l", self.folder], capture_output=True)
        self.folder.rmdir()
