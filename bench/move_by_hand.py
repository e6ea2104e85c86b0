#!/usr/bin/env python3
"""Moves a file with many events to PostgreSQL while a publisher is at work, is killed halfway once, and counts.

By hand, because it takes a minute: tests/support/with-postgres bench/move_by_hand.py build/sluice [EVENTS]
"""
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


def insert(database, rows):
    database.executemany(
        "insert into outbox (id, event_type, source, generation, payload, ordering_key) values (?, 'test.moved', 'tests', 1, ?, ?)",
        rows)


def event(number):
    return str(uuid.uuid4()), json.dumps({"n": number, "text": "ü" * 20}), f"key-{number % 100}" if number % 5 == 0 else None


def psql(url, statement):
    return subprocess.run(["psql", url, "-Atqc", statement], check=True, capture_output=True, text=True).stdout.strip()


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
    database.execute("commit")
    database.close()
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
    return 0 if there == different == EVENTS + accepted[0] and done.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
