"""state_test.py SLUICE postgres|sqlite SKEWED_CLOCK: sinks of real daemons on one store.

A pause and a receiver that is gone outlive the daemon, reach a second one, are audited and seen everywhere. A stop that
runs out of time gives events back uncounted. A daemon whose clock is wrong by ten minutes defers by the store's. A row
that carries a line break adds no header."""
import json
import sqlite3
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "serve"))
from serving import Serving, expect

CONFIGURATION = """\
[exec]
enabled = true

[sinks.shop]
kind = "http"
url = "{url}"
allow = ["127.0.0.1"]
timeout = "10m"

[sinks.program]
kind = "exec"
command = ["/bin/sh", "-c", "echo > {folder}/begun; exec sleep 600"]
timeout = "10m"

[subscriptions."shop.invoices"]
events = ["invoice.*"]
sink = "shop"
retry = {{ attempts = 1 }}

[subscriptions."shop.chores"]
events = ["chore.*"]
sink = "program"
retry = {{ attempts = 1 }}
"""


class Receiver:
    def __init__(self):
        self.process = subprocess.Popen([sys.executable, HERE / "receiver.py"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.order("ready")
        self.url = f"http://127.0.0.1:{self.process.stdout.readline().strip()}/in"

    def order(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def next(self):
        return json.loads(self.process.stdout.readline())


def publish(daemon, kind="invoice.paid"):
    answer = daemon.call("POST", "/v1/events", {"event_type": kind, "source": "billing"})
    expect(answer.status, 201, f"publish: {answer.text}")
    return answer.json()["event_id"]


def event(daemon, event_id):
    return daemon.cli("event", "show", event_id)


def sink(daemon, name="shop"):
    return daemon.cli("sink", "show", name)


def deferred(daemon, event_id):
    """Claimed, and given back without an attempt."""
    seen = daemon.await_(lambda: (e := event(daemon, event_id))["claim_seq"] > 0 and e["status"] == "pending" and e,
                         "the event is deferred")
    expect((seen["attempts"], seen["last_error"]), (0, None), "what a stopped sink counts")
    return seen


def check_visible(daemon, word):
    expect([one["state"] for one in daemon.cli("status")["sinks"] if one["name"] == "shop"], [word], "status")
    found = [one for one in daemon.get("/v1/doctor")["findings"] if one["id"] == "sink-stopped"]
    expect(len(found) == 1 and found[0]["severity"] != "ok" and word in found[0]["title"], True, f"doctor: {found}")
    daemon.await_(lambda: [one for one in daemon.get("/v1/overview")["attention"]
                           if one["id"] == "sink-stopped" and one["link"] == "/sinks"], "the overview says so")
    checked = subprocess.run([daemon.sluice, "check", "sink"], env=daemon.environment, capture_output=True, text=True)
    expect((checked.returncode, checked.stdout.startswith("WARNING sink 1: shop is ")), (6, True), checked.stdout)


def state_metric(daemon):
    for line in daemon.call("GET", "/metrics").text.splitlines():
        if line.startswith('sluice_sink_state{sink="shop"') and line.endswith(" 1"):
            return line.split('state="')[1].split('"')[0]
    return None


def pause_outlives_a_restart(daemon, receiver):
    daemon.cli("sink", "pause", "shop", "--reason", "the shop is migrating")
    daemon.await_(lambda: state_metric(daemon) == "paused", "the daemon follows the command line")
    waiting = publish(daemon)
    seen = deferred(daemon, waiting)
    expect([(one["what"], one["handlers"]) for one in seen["waits_for"]], [("sink", ["shop.invoices"])], "what it waits for")
    check_visible(daemon, "paused")
    daemon.stop()
    daemon.start()
    expect(state_metric(daemon), "paused", "the sink after a restart")
    waiting_too = publish(daemon)
    deferred(daemon, waiting_too)
    daemon.cli("sink", "resume", "shop", "--reason", "the shop has migrated")
    daemon.await_(lambda: state_metric(daemon) == "active", "the daemon follows again")
    # All of them: the next order to the receiver is for the next event.
    left = {waiting, waiting_too, publish(daemon)}
    while left:
        left.discard(receiver.next()["headers"]["webhook-id"])
    actions = [one["action"] for one in daemon.cli("audit", "list", "--action", "sink.*")["records"]]
    expect(actions, ["sink.resume", "sink.pause"], "the audit")


def gone_is_gone_for_all(daemon, second, receiver):
    receiver.order("410")
    dead = publish(daemon)
    daemon.await_(lambda: event(daemon, dead)["status"] == "failed", "the event that was refused for good")
    expect(sink(daemon)["state"], "disabled", "the sink, once the event has failed")
    daemon.kill()
    second.start()
    expect(state_metric(second), "disabled", "the sink in another daemon")
    deferred(second, publish(second))
    check_visible(second, "disabled")
    daemon.start()
    expect(daemon.call("POST", "/v1/sinks/shop/resume", {"reason": "it is back"}).status, 200, "the resume")
    expect(state_metric(daemon), "active", "the daemon that was asked follows at once")
    second.await_(lambda: state_metric(second) == "active", "the other one follows too")
    second.stop()


def a_stop_gives_back(daemon, receiver):
    receiver.order("hang")
    publish(daemon)
    while (hanging := receiver.next())["order"] != "hang":
        pass
    begun = daemon.folder / "begun"
    chore = publish(daemon, "chore.sweep")
    daemon.await_(lambda: begun.exists() or (event(daemon, chore) and begun.exists()), "the program runs")
    daemon.stop()
    for event_id in (hanging["headers"]["webhook-id"], chore):
        seen = event(daemon, event_id)
        expect((seen["status"], seen["attempts"], seen["last_error"]), ("pending", 0, None), "what a stop does to an event")
    expect(daemon.cli("dlq", "count")["count"], 1, "dead letters: only the one that a receiver refused for good")


def evil_row(daemon):
    columns = "(event_type, source, generation, channel, idempotency_key, payload, trace_context)"
    values = "('invoice.paid', 'billing', 1, 'outbox_gen_1', 'evil', '{}', %s)"
    if daemon.kind == "postgres":
        insert = f"insert into core.outbox {columns} values {values % chr(39).join(['E', '00-a' + chr(92) + 'r' + chr(92) + 'nX-Evil: 2', ''])}"
        try:
            daemon.database.sql(insert)
            sys.exit("the row was taken")
        except RuntimeError as refused:
            expect("trace_context must be" in str(refused), True, str(refused))
        # As somebody with all rights, and as a row of before the rule.
        daemon.database.sql("set session_replication_role = replica; " + insert)
        return
    with sqlite3.connect(daemon.store.removeprefix("sqlite:")) as file:
        insert = f"insert into outbox {columns} values {values % '?'}"
        try:
            file.execute(insert, ("00-a\r\nX-Evil: 2",))
            sys.exit("the row was taken")
        except sqlite3.IntegrityError as refused:
            expect("trace_context must be" in str(refused), True, str(refused))
        file.execute("pragma ignore_check_constraints = on")
        file.execute(insert, ("00-a\r\nX-Evil: 2",))


def no_header_is_added(daemon, receiver):
    evil_row(daemon)
    daemon.start()
    while True:
        request = receiver.next()
        if '"idempotency_key":"evil"' in request["body"]:
            break
    expect([name for name in request["headers"] if "evil" in name or name == "traceparent"], [], "headers of the row")
    daemon.stop()


def a_wrong_clock_defers_by_the_stores(daemon, receiver, skewed_clock):
    linked = subprocess.run(["ldd", daemon.sluice], capture_output=True, text=True).stdout
    if "libasan" in linked or "libtsan" in linked:
        return
    daemon.environment |= {"LD_PRELOAD": skewed_clock, "SKEW_SECONDS": "600"}
    daemon.start()
    del daemon.environment["LD_PRELOAD"]
    event_id = publish(daemon)
    while (request := receiver.next())["headers"]["webhook-id"] != event_id:
        pass
    expect(abs(int(request["headers"]["webhook-timestamp"]) - time.time()) < 300, True, "the signature's time")
    daemon.cli("sink", "pause", "shop", "--reason", "a rehearsal")
    daemon.await_(lambda: state_metric(daemon) == "paused", "the pause")
    seen = deferred(daemon, publish(daemon))
    now = datetime.fromisoformat(daemon.cli("status")["now"].replace("Z", "+00:00"))
    wait = datetime.fromisoformat(seen["retry_after"].replace("Z", "+00:00")) - now
    expect(wait.total_seconds() < 120, True, f"deferred for {wait}")
    daemon.stop()


def main():
    sluice, kind, skewed_clock = sys.argv[1:4]
    receiver = Receiver()
    with Serving(sluice, kind, arguments=["--drain-timeout", "1ms"]) as daemon:
        daemon.configure(CONFIGURATION.format(url=receiver.url, folder=daemon.folder))
        second = Serving(sluice, kind)
        for shared in ("folder", "store", "environment", "database"):
            setattr(second, shared, getattr(daemon, shared))
        daemon.start()
        pause_outlives_a_restart(daemon, receiver)
        gone_is_gone_for_all(daemon, second, receiver)
        a_stop_gives_back(daemon, receiver)
        no_header_is_added(daemon, receiver)
        if kind == "postgres":
            a_wrong_clock_defers_by_the_stores(daemon, receiver, skewed_clock)
    receiver.process.stdin.close()
    receiver.process.wait(timeout=60)
    print("paused, disabled, restarted, shared, given back, unharmed")


main()
