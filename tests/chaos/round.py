"""One round: conditions that are drawn from the seed, a fresh store, load, faults, and then the wait until all is quiet."""
import json
import os
import random
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from crew import PLACES, Crew, Gate, Post, Process, Receiver, Tally, environment
from faults import FAULTS
from stores import PostgresStore, SmallDisk, SqliteStore, number_of

ATTEMPTS = 40
DISK_MEGABYTES = 3000
HOOK = "hooks.receiver"
# Who subscribes to what: plain handlers and effects, one and several per event, prefixes, types and everything.
NEAR_CASTS = [
    "books.effect:effect:x.*,mail.plain:plain:*",
    "books.effects:effects:*",
    "books.effect:effect:x.one+y.*,all.star:idempotent:*",
    "books.effect:effect:x.*,mail.plain:plain:x.a.*+y.*,all.effects:effects:*",
    "books.effect:effect:*",
]
# An effect that is not in a batch costs several round trips: where they are long, most events do without.
FAR_CASTS = [
    "books.effect:effect:x.a.*,mail.plain:plain:*",
    "books.effects:effects:*",
    "books.effects:effects:x.*,all.star:idempotent:*",
    "books.effect:effect:x.a.*,mail.plain:plain:x.one+y.*,all.effects:effects:*",
    "all.star:idempotent:*",
]
CALM_EVERY = 7  # rounds without any fault: there the handlers' own records tell whether two of one key overlap
# Then publishers pause: a round tests what happens to events, not how many can wait. Far means slow.
MOST_WAITING, MOST_WAITING_FAR = 4000, 1500


class Conditions:
    """What is normal in this round. Nothing here is a fault."""

    def __init__(self, source, kind, delay=None):
        self.delay = source.choice([0, 1, 3, 10]) if delay is None else delay
        self.jitter = round(self.delay * source.uniform(0.1, 1), 2)
        self.cast = source.choice(FAR_CASTS if self.delay >= 1 and kind == "postgres" else NEAR_CASTS)
        self.split = source.random() < 0.3 and self.cast.count(",") > 0
        self.threads = [source.choice([1, 1, 2, 2, 4, 8]) for _ in range(source.randint(2, 4))]
        self.batch = source.choice([5, 50, 100, 100])
        self.doorbell = source.choice(["always", "when-idle"])
        self.keys, self.keyed = source.choice([(0, 0), (300, 30), (1000, 60), (1000, 60), (30, 15)])
        self.hold = source.choice([100, 1000, 3000])
        self.publishers = source.randint(1, 2)
        self.journal = source.random() < 0.4
        if kind == "sqlite":
            self.delay = self.jitter = 0
            self.doorbell = "-"

    def handlers(self):
        return {name: {"kind": kind, "patterns": patterns.split("+")}
                for name, kind, patterns in (each.split(":") for each in self.cast.split(","))}

    def text(self):
        return (f"delay {self.delay}+{self.jitter} ms, threads {'/'.join(map(str, self.threads))}, batch {self.batch}, "
                f"{self.keys} keys in {self.keyed} % of the runs, doorbell {self.doorbell}, {self.cast}"
                f"{', split' if self.split else ''}{', journal' if self.journal else ''}")


class Round:
    def __init__(self, campaign, number, kind, seconds, delay=None):
        self.sluice, self.programs = campaign.sluice, campaign.programs
        self.random = random.Random(f"{campaign.seed}/{number}")
        self.starting = random.Random(f"{campaign.seed}/{number}/starts")  # drawn from by another thread
        self.name, self.kind, self.seconds = f"{number}", kind, seconds
        self.rate = campaign.rate
        calm = number % CALM_EVERY == 0
        self.faults = [name for name in campaign.faults if kind in FAULTS[name][1] and not calm]
        self.conditions = Conditions(self.random, kind, delay)
        self.most_waiting = MOST_WAITING_FAR if self.conditions.delay >= 3 else MOST_WAITING
        self.tally, self.timers, self.ttl = Tally(), [], 1.0
        self.strict = not [name for name in self.faults if FAULTS[name][2]]
        self.say = campaign.say
        self.published, self.loaded = 0, threading.Event()

    def run(self):
        """Leaves its records in self.folder. Violations that only the round itself can see are in self.seen."""
        self.folder = Path(tempfile.mkdtemp(prefix="sluice-chaos."))
        self.seen, self.disk, self.gate, self.receiver = [], None, None, None
        self.meta = {"handlers": self.conditions.handlers(), "attempts": ATTEMPTS, "strict": self.strict,
                     "conditions": self.conditions.text(), "store": self.kind}
        self.crew = Crew(self.tally)
        try:
            with self._open_store() as self.store:
                self._prepare()
                self._load()
                self._quieten()
                self.store.dump(self.folder, self.conditions.journal)
        finally:
            self.crew.abandon()
            for part in (self.gate, self.receiver, self.disk):
                if part:
                    part.close()
        (self.folder / "meta.json").write_text(json.dumps(self.meta))
        return self

    def _open_store(self):
        if self.kind == "postgres":
            return PostgresStore(self.sluice, self.name)
        place = self.folder
        if "disk-full" in self.faults:
            self.disk = SmallDisk(DISK_MEGABYTES)
            if self.disk.mounted:
                place = self.disk.folder
            else:
                self.faults.remove("disk-full")
                self.say("disk-full is left out: no right to mount a small disk")
        return SqliteStore(self.sluice, self.name, place)

    def _prepare(self):
        self.direct = self.store.url
        self.store.prepare(self.conditions.journal)
        if self.kind == "postgres":
            self.gate = Gate(self.programs / "tcp_gate", self.store.server_port, self.random.randrange(1 << 32))
            self.gate(f"delay {int(1000 * self.conditions.delay)} {int(1000 * self.conditions.jitter)}")
            self.url = self.store.through(self.gate.port)
            self._command("db", "doorbell", self.conditions.doorbell, "--reason", "chaos")
        else:
            self.url = self.direct
        self._register()

    def _command(self, *words):
        subprocess.run([self.sluice, *words], env=environment(self.direct, self.folder), check=True, capture_output=True)

    # Everybody subscribes before the first event: what an event has to meet is known from then on.
    def _register(self):
        done = self._worker("", register=1)
        if done.wait(60) != 0:
            raise RuntimeError("the handlers could not be registered: " + (self.folder / "errors").read_text())
        if "daemons" in self.faults:
            self.meta["handlers"][HOOK] = {"kind": "hook", "patterns": ["d.*"]}
            self.receiver = Receiver(self.folder / "worker.hooks.log", HOOK, number_of)
            (self.folder / "sluice.toml").write_text(f"""
[sinks.receiver]
kind = "http"
url = "{self.receiver.url}"
allow = ["127.0.0.1"]
breaker_failures = 1000
breaker_rest = "1s"
[subscriptions."{HOOK}"]
events = ["d.*"]
sink = "receiver"
retry = {{ attempts = {ATTEMPTS}, base = "5ms", cap = "50ms" }}
""")
            first = self._daemon()
            if not first.was_ready.wait(60):
                raise RuntimeError("the daemon did not start: " + (self.folder / "errors").read_text())
            first.kill()

    def _worker(self, trap, cast=None, threads=2, **more):
        self.record = getattr(self, "record", 0) + 1
        clock = self.folder / f"clock.{self.record}"
        clock.write_bytes(bytes(8))
        words = {"store": self.url, "record": self.folder / f"worker.{self.record}.log", "clock": clock, "handlers": cast or self.conditions.cast,
                 "threads": threads, "batch": self.conditions.batch, "ttl": int(1000 * self.ttl), "attempts": ATTEMPTS,
                 "trap": trap, "ends": int(self.strict), "patrol": int(os.environ.get("SLUICE_PATROL_ENABLED") == "true")} | more
        made = Process([self.programs / "chaos_worker", *(f"{k}={v}" for k, v in words.items() if v != "")], self.folder / "errors")
        made.clock = clock
        return made

    def _drawn_trap(self):
        if "kill" not in self.faults or self.starting.random() < 0.4:
            return ""
        place = self.starting.choice(PLACES)
        per_event = place in ("in_handler", "after_effect")
        return f"{place}:{self.starting.randint(1, 2000 if per_event else 40)}"

    def _daemon(self):
        return Process([self.sluice, "serve", "--config", self.folder / "sluice.toml", "--listen", "127.0.0.1:0", "-o", "json",
                        "--claim-ttl", f"{int(1000 * self.ttl)}ms", "--poll-interval", "200ms", "--log-level", "error"],
                       self.folder / "errors",
                       environment(self.url, self.folder) | {"SLUICE_WORKER_SAFETY_POLL_INTERVAL": "1s"})

    def _publisher(self, rate, **more):
        self.published += 1
        words = {"store": self.url, "record": self.folder / f"publisher.{self.published}.log", "publisher": self.published,
                 "threads": 4 if self.kind == "postgres" else 2, "rate": rate, "seed": self.starting.randrange(1 << 30),
                 "keys": self.conditions.keys, "keyed": self.conditions.keyed, "hold": self.conditions.hold,
                 "poison": min(1000, 250_000 // self.rate) if "poison" in self.faults else 0,
                 "hooks": min(2000, 1_000_000 // self.rate) if "daemons" in self.faults else 0} | more
        return Process([self.programs / "chaos_publisher", *(f"{k}={v}" for k, v in words.items())], self.folder / "errors")

    # A backlog is there before anybody works; then all of it at once.
    def _load(self):
        first = self._publisher(100_000, count=min(self.most_waiting, int(self.rate * self.seconds * 0.1)))
        if first.wait(120) != 0:
            raise RuntimeError("the backlog could not be published: " + (self.folder / "errors").read_text())
        rate = self.rate // self.conditions.publishers
        for _ in range(self.conditions.publishers):
            self.crew.add(Post("publisher", lambda: self._publisher(rate)))
        for place, threads in enumerate(self.conditions.threads):
            cast = self._hosted(place)
            self.crew.add(Post("worker", lambda cast=cast, threads=threads: self._worker(self._drawn_trap(), cast, threads)))
        if "daemons" in self.faults:
            for _ in range(2 if self.kind == "sqlite" else 1):
                self.crew.add(Post("daemon", self._daemon))
        watch = threading.Thread(target=self._hold_back, daemon=True)
        watch.start()
        until = time.monotonic() + self.seconds
        active = [name for name in self.faults if FAULTS[name][2]]
        while time.monotonic() < until:
            self.rest(self.random.uniform(0.1, 0.9) if active else 0.5)
            if active:
                name = self.random.choices(active, [FAULTS[each][0] for each in active])[0]
                FAULTS[name][2](self)
        self.loaded.set()
        watch.join()

    # Publishers that are faster than the workers wait for them.
    def _hold_back(self):
        while not self.loaded.wait(0.7):
            waiting = self.store.backlog()
            if waiting is None:
                continue
            order = "wait" if waiting > self.most_waiting else "go"
            for post in self.crew.of("publisher"):
                post.process.tell(order)

    # Where handlers are split, each process lacks one of them.
    def _hosted(self, place):
        parts = self.conditions.cast.split(",")
        if self.conditions.split:
            del parts[place % len(parts)]
        return ",".join(parts)

    def rest(self, seconds):
        time.sleep(seconds)

    # The end of all faults: publishers finish what they are at, workers that die are no longer told to.
    def _quieten(self):
        for timer, act in self.timers:
            if timer.is_alive():
                timer.cancel()
                act()
        if self.gate:
            self.gate("heal")
        self.faults = [name for name in self.faults if FAULTS[name][2] is None]
        with self.crew.lock:
            publishers = [post for post in self.crew.posts if post.name == "publisher"]
            self.crew.posts = [post for post in self.crew.posts if post.name != "publisher"]
            for post in publishers:
                post.process.end()
            for post in self.crew.posts:
                if post.name == "worker" and not self.strict:  # its trap may still be set: a fresh one has none
                    post.process.killed_for = "at the end"
                    post.process.kill()
        for post in publishers:
            if post.process.wait(60) is None:
                self.seen.append("a publisher did not end within 60 s")
                post.process.kill()
        self._await_quiet()
        self.seen += self.crew.close(30)

    # By condition: nothing pending and nothing in flight; or nothing has changed for so long that nothing will. What goes on
    # is not stranded, however slow: a round has half an hour, on a machine that is busy otherwise.
    def _await_quiet(self):
        begun = changed = time.monotonic()
        last = ""
        while True:
            state = self.store.state()
            now = time.monotonic()
            if "pending" not in state and "in_flight" not in state:
                break
            if state != last:
                last, changed = state, now
            if now - changed > 15 * self.ttl or now - begun > 1800:
                self.seen.append(f"not quiet {now - begun:.0f} s after the last fault: {' '.join(state.split())}")
                break
            self.rest(0.3)
        self.tally.add("drain", "seconds", round(time.monotonic() - begun, 1))

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)
