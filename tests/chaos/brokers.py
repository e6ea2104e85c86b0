"""Real brokers for relay.py: a JetStream cluster of three servers, or one Redis, each behind gates that the relay goes through."""
import json
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from crew import Gate

PATIENCE = 60  # seconds for a server to come back


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def until(done, what):
    """Waits for a state that only the servers know."""
    give_up = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > give_up:
            raise SystemExit(f"{what} did not happen within {PATIENCE} seconds")
        time.sleep(0.2)


class Broker:
    """`url` is for consumers, `gated_url` for the relay."""

    def lose_answer(self):
        """The next answer to a publish does not arrive: the message is kept, and the relay's connection ends instead."""
        for gate in self.gates:
            gate(f"lose {self.request} 1")

    def lost_answers(self):
        return sum(gate("lost") for gate in self.gates)

    def end(self):
        for gate in self.gates:
            gate.close()
        for process in self.processes:
            process.kill()
            process.wait()


class JetStream(Broker):
    kind, request = "nats", "HPUB"
    settings = {"SLUICE_BROKER_REPLICAS": "3"}

    def __init__(self, folder, gate_program):
        self.ports, routes, self.monitors = ([free_port() for _ in range(3)] for _ in range(3))
        self.files, self.processes = [], [None] * 3
        for number in range(3):
            file = Path(folder) / f"n{number}.conf"
            file.write_text(f'server_name: n{number}\nlisten: "127.0.0.1:{self.ports[number]}"\nhttp: "127.0.0.1:{self.monitors[number]}"\n'
                            f'jetstream {{ store_dir: "{folder}/n{number}" }}\n'
                            f'cluster {{ name: sluice, listen: "127.0.0.1:{routes[number]}", routes: ['
                            + ", ".join(f"nats://127.0.0.1:{port}" for port in routes) + "] }\n")
            self.files.append(file)
            self.start(number)
        self.gates = [Gate(gate_program, port, 1) for port in self.ports]
        self.url = ",".join(f"nats://127.0.0.1:{port}" for port in self.ports)
        self.gated_url = ",".join(f"nats://127.0.0.1:{gate.port}" for gate in self.gates)

    def start(self, number):
        self.processes[number] = subprocess.Popen(["nats-server", "-c", self.files[number]], stdout=subprocess.DEVNULL,
                                                  stderr=subprocess.DEVNULL)

    def stream(self):
        """What the leader of the stream says of it: the others do not know who is up to date. None: there is no leader."""
        for number, monitor in enumerate(self.monitors):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{monitor}/jsz?acc=$G&streams=true&config=true", timeout=5) as answer:
                    details = json.load(answer).get("account_details", [])
            except OSError:
                continue
            for stream in (details[0].get("stream_detail") or []) if details else []:
                servers = stream.get("cluster", {})
                if stream["name"] == "SLUICE" and servers.get("leader") == f"n{number}":
                    return servers
        return None

    def is_whole(self):
        servers = self.stream()
        return servers is not None and sum(1 for peer in servers.get("replicas", []) if peer.get("current")) == 2

    def kill(self):
        """The leader of the stream, by SIGKILL. Two away at once would be one too many, so it waits for the last one first."""
        until(self.is_whole, "that all three servers have the stream")
        leader = int(self.stream()["leader"][1:])
        self.processes[leader].kill()
        self.processes[leader].wait()
        until(lambda: (self.stream() or {}).get("leader", f"n{leader}") != f"n{leader}", "a new leader")
        self.start(leader)
        return f"the leader n{leader}"


class Redis(Broker):
    kind, request = "redis", "EVALSHA"
    settings = {}

    def __init__(self, folder, gate_program):
        self.port, self.folder, self.processes = free_port(), folder, [None]
        self.start()
        self.gates = [Gate(gate_program, self.port, 1)]
        self.url = f"redis://127.0.0.1:{self.port}"
        self.gated_url = f"redis://127.0.0.1:{self.gates[0].port}"

    def start(self):
        self.processes[0] = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder, "--appendonly", "yes",
             "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self):
        self.processes[0].kill()
        self.processes[0].wait()
        self.start()
        return "the server"
