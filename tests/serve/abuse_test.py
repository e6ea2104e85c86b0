"""abuse_test.py SLUICE [REQUESTS]: malformed, oversized, slow, half-open and smuggled requests, and more connections than are taken. The
daemon does not fall, answers what it must, keeps its memory, stores nothing that was smuggled in, and serves the next good request.

SEED=n repeats a run."""
import os
import random
import socket
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from malformed import CLOSED, GOOD, HEAVY, MAKERS, SEVERAL, SMUGGLED
from serving import Serving, expect
from wire import Silence, exchange, statuses

CONNECTIONS = 64
SLOW = 8
CLIENTS = 8
MORE_MEMORY_KIB = 48 * 1024


def make(seed, count):
    """The whole campaign, from the seed alone."""
    chosen = random.Random(seed)
    requests = []
    for _ in range(count):
        maker = chosen.choice(MAKERS)
        while maker in HEAVY and chosen.random() < 0.8:
            maker = chosen.choice(MAKERS)
        requests.append((maker.__name__, *maker(chosen)))
    return requests


def judge(name, wanted, received):
    """A complaint, or none."""
    found = statuses(received)
    if found is None:
        return f"{name}: the answer is no HTTP: {received[:200]!r}"
    if len(found) > 1 and name not in SEVERAL:
        return f"{name}: one request was taken for {len(found)}: {received[:300]!r}"
    if not found and CLOSED not in wanted:
        return f"{name}: closed without an answer, expected {sorted(wanted)}"
    strange = [status for status in found if status not in wanted]
    if strange:
        return f"{name}: {strange}, expected {sorted(wanted)}: {received[:300]!r}"
    return None


def attack(port, request):
    name, pieces, wanted = request
    try:
        received = exchange(port, pieces)
    except Silence:
        return name, f"{name}: neither an answer nor an end: {pieces[0][:200]!r}", Counter()
    return name, judge(name, wanted, received), Counter(statuses(received) or ["closed"])


class SlowOnes:
    """Connections whose request never ends: a byte of a header now and then would keep them, nothing does not."""

    def __init__(self, port):
        self.sockets = []
        for number in range(SLOW):
            one = socket.create_connection(("127.0.0.1", port), timeout=60)
            one.sendall(GOOD[: 10 + number] if number % 2 else b"POST /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            self.sockets.append(one)

    def end(self):
        """Waits until the daemon has had enough of each."""
        for one in self.sockets:
            received = b""
            try:
                while piece := one.recv(65536):
                    received += piece
            except TimeoutError:
                sys.exit("a request that never ends is waited for without end")
            except OSError:
                pass
            one.close()
            expect(statuses(received) in ([], [408]), True, f"the answer to a slow request: {received!r}")


def flood(daemon):
    """Three times as many connections as are taken; those that are must be served, the others are turned away."""
    sockets, served = [], 0
    for _ in range(3 * CONNECTIONS):
        try:
            sockets.append(socket.create_connection(("127.0.0.1", daemon.port), timeout=60))
        except OSError:
            continue
    for one in sockets:
        try:
            one.sendall(GOOD)
            served += one.recv(64).startswith(b"HTTP/1.1 200")
        except OSError:
            pass
    for one in sockets:
        one.close()
    expect(0 < served <= CONNECTIONS, True, f"{served} of {len(sockets)} connections were served at once, {CONNECTIONS} may be")


def is_well(daemon):
    try:
        return daemon.call("GET", "/healthz").status == 200
    except OSError:
        return False


def more_memory_allowed(daemon):
    # An address sanitizer keeps what was freed for a while.
    sanitized = "libasan" in Path(f"/proc/{daemon.process.pid}/maps").read_text()
    return MORE_MEMORY_KIB * (12 if sanitized else 1)


def main():
    sluice, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    print(f"SEED={seed}", flush=True)
    requests = make(seed, count)
    with Serving(sluice, "sqlite", f"[http]\nmax_connections = {CONNECTIONS}\n") as daemon:
        daemon.start()
        # What is allocated once, at first use, is no growth.
        for request in requests[:200]:
            attack(daemon.port, request)
        before = daemon.resident_kib()
        slow = SlowOnes(daemon.port)
        with ThreadPoolExecutor(CLIENTS) as clients:
            results = list(clients.map(lambda request: attack(daemon.port, request), requests))
        slow.end()
        complaints = [complaint for _, complaint, _ in results if complaint]
        if complaints:
            sys.exit(f"{len(complaints)} of {count}:\n" + "\n".join(complaints[:20]))
        expect(daemon.process.poll(), None, "the daemon")
        flood(daemon)
        daemon.await_(lambda: is_well(daemon), "a good request after the flood")
        expect(daemon.call("POST", "/v1/events", {"event_type": "abuse.over", "source": "abuse"}).status, 201, "a publish afterwards")
        expect(daemon.get(f"/v1/events?filter=type:{SMUGGLED}")["events"], [], "events that were smuggled in")
        grown = daemon.resident_kib() - before
        expect(grown < more_memory_allowed(daemon), True, f"{grown} KiB more memory, from {before} KiB")
        daemon.stop()
    answers = sum((found for _, _, found in results), Counter())
    print(f"{count} requests of {len(MAKERS)} kinds: {dict(sorted(answers.items(), key=str))}; {grown} KiB more memory")


if __name__ == "__main__":
    main()
