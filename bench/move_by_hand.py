#!/usr/bin/env python3
"""Moves a file with many events to PostgreSQL while a publisher is at work, is killed halfway once, counts, compares digests of all
events and dedup rows, and the stories of some that failed and were replayed.

By hand, because it takes a minute: tests/support/with-postgres bench/move_by_hand.py build/sluice [EVENTS]
"""
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import uuid

SLUICE = os.path.abspath(sys.argv[1])
EVENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 200_000
SERVER = os.environ["SLUICE_TEST_POSTGRES"]
REPLAYED = 20

FAIL = """update outbox set status = 'failed', attempts = 1, failed_at = published_at, first_failed_at = published_at,
last_error = 'TimeoutError: no answer', failure_class = 'TimeoutError', fingerprint = '0123456789abcdef' where status = 'in_flight'"""
COLUMNS = "seq, id, status, attempts, claim_seq, generation, ordering_key, idempotency_key, event_type, payload, failure_history"
EVENTS_THERE = f"""select json_build_array({COLUMNS}, to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
from core.outbox order by seq"""
HANDLED = "select handler_name, idempotency_key, event_id from {} order by 1, 2"


def insert(database, rows):
    database.executemany(
        "insert into outbox (id, event_type, source, generation, payload, ordering_key) values (?, 'test.moved', 'tests', 1, ?, ?)",
        rows)


def event(number):
    return str(uuid.uuid4()), json.dumps({"n": number, "text": "ü" * 20}), f"key-{number % 100}" if number % 5 == 0 else None


def psql(url, statement):
    return subprocess.run(["psql", url, "-Atqc", statement], check=True, capture_output=True, text=True).stdout.strip()


def sluice(store, *words):
    done = subprocess.run([SLUICE, *words, "--store", store], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"sluice {' '.join(words)}: {done.stderr}")
    return done.stdout


def digest(rows):
    """Of values, not of how a store writes them."""
    sum_of_all = hashlib.sha256()
    for row in rows:
        sum_of_all.update(json.dumps(row, sort_keys=True).encode() + b"\n")
    return sum_of_all.hexdigest()


def digests_of_file(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    events = ([*row[:9], json.loads(row[9]), json.loads(row[10] or "[]"), row[11]]
              for row in database.execute(f"select {COLUMNS}, occurred_at from outbox order by seq"))
    return digest(events), digest(database.execute(HANDLED.format("event_handled")))


def digests_there(url):
    events = (json.loads(line) for line in psql(url, EVENTS_THERE).splitlines())
    handled = sorted(line.split("|") for line in psql(url, HANDLED.format("core.event_handled")).splitlines())
    return digest([*row[:10], row[10] or [], row[11]] for row in events), digest(handled)


def story(store, event):
    """What `sluice event show` tells of it."""
    return json.loads(sluice(store, "event", "show", event, "-o", "json"))


def main():
    folder = tempfile.mkdtemp(prefix="sluice-move.")
    path = os.path.join(folder, "sluice.db")
    name = "move_" + uuid.uuid4().hex[:8]
    psql(SERVER, f"create database {name}")
    target = SERVER.rsplit("/", 1)[0] + "/" + name
    for store in ("sqlite:" + path, target):
        subprocess.run([SLUICE, "db", "migrate", "--store", store, "-q"], check=True, stdout=subprocess.DEVNULL)
    database = sqlite3.connect(path, isolation_level=None)
    began = time.monotonic()
    database.execute("begin immediate")
    insert(database, (event(number) for number in range(EVENTS)))
    database.execute("update outbox set status = 'in_flight', claim_seq = 1, claimed_by = 'w' where seq % 2 = 0 and ordering_key is null")
    database.execute("update outbox set status = 'delivered', delivered_at = published_at where status = 'in_flight'")
    database.execute("insert into event_handled (handler_name, idempotency_key, event_id) "
                     "select 'tests.all', idempotency_key, id from outbox where status = 'delivered'")
    dead = [one for one, in database.execute(f"select id from outbox where status = 'pending' and ordering_key is null limit {REPLAYED}")]
    database.executemany("update outbox set status = 'in_flight', claim_seq = 1, claimed_by = 'w' where id = ?", [(one,) for one in dead])
    database.execute(FAIL)
    database.execute("commit")
    database.close()
    for one in dead:
        sluice("sqlite:" + path, "dlq", "replay", one, "--yes", "--reason", "the receiver is fixed")
    print(f"{EVENTS} events made in {time.monotonic() - began:.1f} s")

    accepted, refusal, longest = [0], [""], [0.0]

    def publish():
        own = sqlite3.connect(path, isolation_level=None, timeout=60)
        number = EVENTS
        while True:
            start = time.monotonic()
            try:
                own.execute("begin immediate")
                insert(own, [event(number + offset) for offset in range(10)])
                own.execute("commit")
            except sqlite3.DatabaseError as error:
                refusal[0] = str(error)
                return
            longest[0] = max(longest[0], time.monotonic() - start)
            number += 10
            accepted[0] += 10
            time.sleep(0.005)

    publisher = threading.Thread(target=publish)
    publisher.start()
    move = [SLUICE, "move", "--from", "sqlite:" + path, "--to", target, "--yes", "-o", "json"]
    began = time.monotonic()
    killed = subprocess.Popen(move, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while int(psql(target, "select count(*) from core.move_slices")) < EVENTS / 2000 / 2 and killed.poll() is None:
        time.sleep(0.05)
    killed.kill()
    killed.wait()
    print(f"killed after {time.monotonic() - began:.1f} s, {psql(target, 'select count(*) from core.outbox')} events there")
    began = time.monotonic()
    done = subprocess.run(move, capture_output=True, text=True, check=False)
    publisher.join(timeout=120)
    print(f"resumed: exit {done.returncode} after {time.monotonic() - began:.1f} s\n{done.stdout}{done.stderr[-300:]}")
    print(f"the publisher had {accepted[0]} accepted, its longest commit took {longest[0]:.2f} s, then: {refusal[0]}")
    there = int(psql(target, "select count(*) from core.outbox"))
    different = int(psql(target, "select count(distinct id) from core.outbox"))
    handled = int(psql(target, "select count(*) from core.event_handled"))
    print(f"expected {EVENTS + accepted[0]} events, there {there}, different {different}; {handled} dedup rows")
    sums, sums_there = digests_of_file(path), digests_there(target)
    for name, one, other in zip(("events", "dedup rows"), sums, sums_there):
        print(f"{name}: digest {one[:16]} in the file, {other[:16]} there: {'the same' if one == other else 'DIFFERENT'}")
    stories = sum(story("sqlite:" + path, one) == story(target, one) for one in dead)
    print(f"{stories} of {REPLAYED} events that failed and were replayed tell the same story")
    right = there == different == EVENTS + accepted[0] and sums == sums_there and stories == REPLAYED
    return 0 if right and done.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
