"""What is done to a round while it works. Each fault is a function of the round, says whether it found somebody to hit,
and undoes itself."""
import signal
import struct
import subprocess
import threading
import time

from crew import environment

KILLS, NETWORK, SERVER = "kills", "network faults", "server crashes"


def kill(round_):
    """kill -9 of a worker at random; those at named steps are drawn when a worker starts."""
    found = round_.crew.of("worker", "daemon")
    if found:
        process = round_.random.choice(found).process
        process.killed_for = "random"
        process.signal(signal.SIGKILL)


def kill_publisher(round_):
    found = round_.crew.of("publisher")
    if found:
        process = round_.random.choice(found).process
        process.killed_for = "publisher"
        process.signal(signal.SIGKILL)


def stop(round_, replay=False):
    """SIGSTOP for longer than a claim lasts, then SIGCONT."""
    found = round_.crew.of("worker")
    if len(found) < 2:
        return
    post = round_.random.choice(found)
    post.stopped = True
    post.process.signal(signal.SIGSTOP)

    def go_on():
        post.process.signal(signal.SIGCONT)
        post.stopped = False
        round_.tally.add("stops", "replay" if replay else "past the claim")
    if replay:
        round_.rest(1.5 * round_.ttl)
        replay_all(round_)
        go_on()
    else:
        later(round_, round_.ttl * round_.random.uniform(1.2, 2.5), go_on)


def stale_replay(round_):
    """Dead letters are replayed while a worker that held some of them stands still."""
    stop(round_, replay=True)


def replay_all(round_):
    command(round_, "dlq", "replay", "--all", "--reason", "chaos", "--yes", "--stop-percent", "100")
    round_.tally.add("operations", "replay")


def retention(round_):
    """Sweeps what was delivered two seconds ago, beside the workers."""
    round_.meta["retention"] = True
    command(round_, "retention", "sweep", extra={"SLUICE_RETENTION_OUTBOX_ACTIVE": "2s", "SLUICE_RETENTION_OUTBOX_GRACE": "1s",
                                                 "SLUICE_RETENTION_EVENT_HANDLED_ACTIVE": "10m"})
    round_.tally.add("operations", "retention sweep")


def command(round_, *words, extra=None):
    """The command line may be hit by other faults: whatever it says, the checker decides."""
    try:
        subprocess.run([round_.sluice, *words], env=environment(round_.direct, round_.folder) | (extra or {}), timeout=15,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        pass


def crash(round_):
    """The database server dies: pg_ctl stop -m immediate, and start."""
    round_.store.crash()
    round_.tally.add(SERVER, "immediate")


def terminate(round_, only=""):
    hit = round_.store.sql_patiently(f"""select count(pg_terminate_backend(pid)) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() {only}""")
    if int(hit) > 0:
        round_.tally.add(NETWORK, "listener terminated" if only else "backends terminated")


def terminate_some(round_):
    terminate(round_, f"and pid % 3 = {round_.random.randrange(3)}")


def terminate_listener(round_):
    terminate(round_, "and query ilike 'listen%'")


def gate(round_, name, order):
    if round_.gate(order) > 0:
        round_.tally.add(NETWORK, name)


def cut(round_):
    gate(round_, "cut", f"cut {round_.random.randint(1, 6)}")


def stall(round_):
    gate(round_, "stall", f"stall {round_.random.randint(1, 8)} {round_.random.randint(100, int(2000 * round_.ttl))}")


def black_hole(round_):
    gate(round_, "black hole", f"swallow {round_.random.randint(1, 3)} {round_.random.randint(500, 3000)}")


def deaf(round_):
    gate(round_, "deaf listener", f"deafen 2 {round_.random.randint(500, 3000)}")


def lose(round_, what):
    before = round_.gate("lost")
    round_.gate(f"lose {what} {round_.random.randint(1, 3)}")
    round_.rest(0.3)
    round_.gate(f"lose {what} 0")
    lost = round_.gate("lost") - before
    if lost > 0:
        round_.tally.add(NETWORK, f"lost answer to a {what}", lost)


def lost_commit(round_):
    lose(round_, "commit")


def lost_claim(round_):
    lose(round_, "claim")


def clock(round_):
    """The system clock of a worker jumps by up to two hours either way, and back."""
    found = round_.crew.of("worker")
    if not found:
        return
    process = round_.random.choice(found).process

    def be_off_by(seconds):
        with open(process.clock, "r+b") as mapped:  # in place: the worker reads it as memory
            mapped.write(struct.pack("q", seconds))
    be_off_by(round_.random.randint(-7200, 7200))
    later(round_, round_.random.uniform(0.2, 3), lambda: be_off_by(0))
    round_.tally.add("clock jumps", "worker")


def flood(round_):
    """NOTIFY from somebody who has nothing to say, and for events that do not exist."""
    round_.store.sql_patiently("""select count(pg_notify('outbox_gen_1', case when n % 2 = 0 then gen_random_uuid()::text
        else 'x' || n end)) from generate_series(1, 3000) n""")
    round_.tally.add("floods", "notify")


GHOST = "ghost.away"


def withdraw(round_):
    """A handler that nobody hosts subscribes to everything, may come to want less, and is withdrawn: nobody waits for it then."""
    def subscribe(patterns):
        round_.store.sql_patiently(f"select core.subscribe(1, array['{GHOST}'], '[[\"{patterns}\"]]', array[null]::text[], array[null]::text[])")
    subscribe("*")
    if round_.random.random() < 0.4:
        later(round_, round_.random.uniform(0.05, 0.5), lambda: subscribe("nothing.*"))
    later(round_, round_.random.uniform(0.6, 2), lambda: round_.store.sql_patiently(
        f"select core.unsubscribe(1, s.handler_name, 'chaos', 'sql', '') from core.subscriptions s where s.handler_name = '{GHOST}'"))
    round_.tally.add("subscriptions", "withdrawn")


def disk_full(round_):
    round_.disk.fill()
    round_.rest(round_.random.uniform(0.3, 1.5))
    round_.disk.clear()
    round_.tally.add("disk full", "while writing")


def later(round_, seconds, act):
    timer = threading.Timer(seconds, act)
    timer.start()
    round_.timers.append((timer, act))


# name: (how often, which stores, function). Poison and daemons are part of the load and have no function.
FAULTS = {
    "kill": (10, "postgres sqlite", kill),
    "kill-publisher": (1, "postgres sqlite", kill_publisher),
    "stop": (3, "postgres sqlite", stop),
    "crash": (7, "postgres", crash),
    "terminate": (2, "postgres", terminate_some),
    "terminate-listener": (1, "postgres", terminate_listener),
    "cut": (3, "postgres", cut),
    "stall": (2, "postgres", stall),
    "black-hole": (1.5, "postgres", black_hole),
    "deaf": (1, "postgres", deaf),
    "lost-commit": (3, "postgres", lost_commit),
    "lost-claim": (3, "postgres", lost_claim),
    "clock": (1, "postgres", clock),
    "flood": (0.7, "postgres", flood),
    "withdraw": (3, "postgres", withdraw),
    "replay": (1, "postgres sqlite", stale_replay),
    "retention": (0.5, "postgres sqlite", retention),
    "disk-full": (2, "sqlite", disk_full),
    "poison": (0, "postgres sqlite", None),
    "daemons": (0, "postgres sqlite", None),
}
