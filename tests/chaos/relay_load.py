"""relay_load.py SLUICE WORKER [--events N] [--kills N]: events through a JetStream cluster of three servers whose members are
killed while they flow, the leader among them. Every event must be booked exactly once, and each key in order.

Run by hand, inside tests/support/with-postgres; 500,000 events take their time.
"""
import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fresh_database import FreshDatabase

CHUNK = 5000
KEYS = 200


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


class Servers:
    def __init__(self, folder):
        self.ports = [free_port() for _ in range(3)]
        routes = [free_port() for _ in range(3)]
        self.files, self.processes = [], [None] * 3
        for number in range(3):
            file = Path(folder) / f"n{number}.conf"
            file.write_text(f'server_name: n{number}\nlisten: "127.0.0.1:{self.ports[number]}"\n'
                            f'jetstream {{ store_dir: "{folder}/n{number}" }}\n'
                            f'cluster {{ name: sluice, listen: "127.0.0.1:{routes[number]}", routes: ['
                            + ", ".join(f"nats://127.0.0.1:{port}" for port in routes) + "] }\n")
            self.files.append(file)
            self.start(number)
        self.url = ",".join(f"nats://127.0.0.1:{port}" for port in self.ports)

    def start(self, number):
        self.processes[number] = subprocess.Popen(["nats-server", "-c", self.files[number]], stdout=subprocess.DEVNULL,
                                                  stderr=subprocess.DEVNULL)

    def kill(self, number):
        self.processes[number].kill()
        self.processes[number].wait()

    def end(self):
        for process in self.processes:
            process.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sluice")
    parser.add_argument("worker")
    parser.add_argument("--events", type=int, default=500_000)
    parser.add_argument("--kills", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, FreshDatabase(options.sluice, "relay_load") as database:
        verdict = play(options, folder, database)
    sys.exit(verdict)


def play(options, folder, database):
    servers = Servers(folder)
    database.sql("create table public.effects (event_id uuid, n bigint generated always as identity)")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLUICE_", "DATABASE_URL"))}
    environment |= {"SLUICE_STORE": database.url, "SLUICE_BROKER": servers.url, "SLUICE_BROKER_REPLICAS": "3",
                    "SLUICE_ACTOR": "chaos", "HOME": folder, "SLUICE_BROKER_ACK_WAIT": "15s"}
    log = open(Path(folder) / "log", "w")
    crew = [subprocess.Popen([options.worker], env=environment, stderr=log) for _ in range(2)]
    turned = None
    while turned is None or turned.returncode != 0:  # until a majority has met
        turned = subprocess.run([options.sluice, "ladder", "relay", "nats", "--reason", "chaos"], env=environment,
                                capture_output=True, text=True)
        time.sleep(1)
    crew.append(subprocess.Popen([options.sluice, "serve", "--listen", "off"], env=environment, stderr=log))
    begun = time.monotonic()
    kills = {options.events * (number + 1) // (options.kills + 1): number % 3 for number in range(options.kills)}
    down = None
    for start in range(0, options.events, CHUNK):
        database.sql(f"""insert into core.outbox (event_type, source, generation, payload, ordering_key)
            select 'chaos.happened', 'chaos', 1, jsonb_build_object('n', n), case when n % 10 = 0 then 'k' || n % {KEYS} end
            from generate_series({start + 1}, {min(start + CHUNK, options.events)}) n""")
        for place in [place for place in kills if start <= place < start + CHUNK]:
            if down is not None:
                servers.start(down)
                time.sleep(5)
            down = kills.pop(place)
            servers.kill(down)
            print(f"killed server {down} after {start + CHUNK} events", flush=True)
    if down is not None:
        servers.start(down)
    last, since = -1, time.monotonic()
    while time.monotonic() - since < 120:
        booked = int(database.sql("select count(*) from public.effects"))
        if booked != last:
            last, since = booked, time.monotonic()
        if booked >= options.events and database.sql("select count(*) from core.outbox where status <> 'delivered'") == "0":
            break
        time.sleep(1)
    took = time.monotonic() - begun
    for process in crew:
        process.send_signal(signal.SIGTERM)
    for process in crew:
        process.wait(timeout=60)
    servers.end()
    counts = database.sql(f"""select count(*), count(distinct event_id) from public.effects""").split("|")
    states = database.sql("select status, count(*) from core.outbox group by 1 order by 1").replace("\n", ", ")
    disorder = database.sql("""select count(*) from (select o.seq, lag(o.seq) over (partition by o.ordering_key order by e.n) as before
        from public.effects e join core.outbox o on o.id = e.event_id where o.ordering_key is not null) t where before > seq""")
    print(f"{options.events} events in {took:.0f} s ({options.events / took:.0f}/s): {counts[0]} effects of {counts[1]} events; "
          f"{states}; {disorder} out of order")
    fine = counts == [str(options.events)] * 2 and disorder == "0" and states == f"delivered|{options.events}"
    print("ok" if fine else "FAILED")
    return 0 if fine else 1


main()
