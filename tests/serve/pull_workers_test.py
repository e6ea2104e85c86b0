"""pull_workers_test.py SLUICE postgres|sqlite PYTHON_WORKER NODE_WORKER: workers in other languages. The shipped examples deliver and
fail events, one is killed in the middle and its event comes again, a late report is fenced, a claim outlives the daemon, and a
worker that is asked to stop gives back what it has not begun."""
import base64
import json
import os
import signal
import subprocess
import sys

from serving import Serving, expect

# Without a subscription of its own the daemon would log every event too; this one is for nothing that is published here.
CONFIGURATION = """\
[subscriptions."elsewhere.log"]
events = ["elsewhere.*"]
sink = "log"
"""

SLOW_WORKER = """
import sys, threading
sys.path.insert(0, sys.argv[1])
from worker import Worker
import signal

def handle(event):
    print(event["event_id"], flush=True)
    threading.Event().wait()

worker = Worker("examples.slow", ["slow.*"], handle, url=sys.argv[2], ttl=5, wait=1, limit=10)
signal.signal(signal.SIGTERM, worker.stop)
worker.run()
"""

THROWING_PYTHON = """
import sys
sys.path.insert(0, sys.argv[1])
from worker import Terminal, Worker

def handle(event):
    raise Terminal("ä" * 5000)

Worker("examples.throws_python", ["throwing.python"], handle, url=sys.argv[2], wait=1).run()
"""

THROWING_NODE = """
import process from 'node:process';
import { pathToFileURL } from 'node:url';
const [url, module] = process.argv.slice(1);  // the other way round it would run as a program
const { Terminal, Worker } = await import(pathToFileURL(module).href);
await new Worker('examples.throws_node', ['throwing.node'], () => { throw new Terminal('ä'.repeat(5000)); }, { url, wait: 1 }).run();
"""


def publish(daemon, event_type, payload=None):
    answer = daemon.call("POST", "/v1/events", {"type": event_type, "source": "tests", "payload": payload or {}})
    expect(answer.status, 201, f"publish: {answer.text}")
    return answer.json()["event_id"]


def event(daemon, event_id):
    return daemon.get(f"/v1/events/{event_id}")


def post(daemon, path, body):
    answer = daemon.call("POST", path, body)
    expect(answer.status, 200, f"{path}: {answer.text}")
    return answer.json()


def claim(daemon, handler, **more):
    return post(daemon, "/v1/claims", {"handler": handler, "event_types": ["manual.*"], "worker": "test", **more})["claims"]


def settle(daemon, token, outcome, **more):
    return post(daemon, "/v1/claims/settle", {"settlements": [{"claim": token, "outcome": outcome, **more}]})["settled"][0]


def example(daemon, command):
    """A shipped example greets one customer, fails an event for good, and ends when it is asked to."""
    worker = subprocess.Popen(command, env={**os.environ, "SLUICE_URL": daemon.url, "SLUICE_WAIT_SECONDS": "1"}, stdout=subprocess.PIPE, text=True)
    greeted = publish(daemon, "customer.signed_up", {"name": "Ada"})
    expect(worker.stdout.readline(), f"{greeted} hello Ada\n", command[0])
    daemon.await_(lambda: event(daemon, greeted)["status"] == "delivered", "the greeting is settled")
    nameless = publish(daemon, "customer.signed_up")
    daemon.await_(lambda: event(daemon, nameless)["status"] == "failed", "the nameless one fails")
    expect(event(daemon, nameless)["last_error"], "Terminal: the payload has no name", "its error")
    listed = [one for one in daemon.get("/v1/workers")["workers"] if "examples.greeter" in one["handlers"]]
    expect(listed[0]["alive"], True, "the worker is listed")
    worker.send_signal(signal.SIGTERM)
    expect(worker.wait(timeout=60), 0, "the worker's exit")


def killed_worker(daemon, folder):
    """kill -9 in the middle: the claim runs out, and the next worker gets the event."""
    command = [sys.executable, "-B", "-c", SLOW_WORKER, folder, daemon.url]
    first_id, second_id = publish(daemon, "slow.job"), publish(daemon, "slow.job")
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    begun = worker.stdout.readline().strip()
    expect(begun in (first_id, second_id), True, "it has begun")
    worker.kill()
    worker.wait(timeout=60)
    expect(event(daemon, begun)["status"], "in_flight", "the event of a killed worker")
    follower = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    expect(follower.stdout.readline().strip() in (first_id, second_id), True, "it comes again")
    taken = daemon.await_(lambda: event(daemon, begun)["attempts"] == 1 and event(daemon, begun), "an attempt is counted")
    expect(taken["attempts"], 1, "attempts after the kill")
    follower.kill()
    follower.wait(timeout=60)


def fenced_late_report(daemon):
    event_id = publish(daemon, "manual.job")
    first = claim(daemon, "examples.manual")[0]
    expect(settle(daemon, first["claim"], "released")["result"], "settled", "given back")
    second = claim(daemon, "examples.manual")[0]
    expect(settle(daemon, first["claim"], "failed", terminal=True, message="late")["result"], "fenced", "a late report")
    expect(post(daemon, "/v1/claims/heartbeat", {"claims": [first["claim"], second["claim"]]})["lost"], [first["claim"]],
           "the lost claim")
    expect(event(daemon, event_id)["status"], "in_flight", "the event belongs to the second claim")
    expect(settle(daemon, second["claim"], "handled"), {"claim": second["claim"], "result": "settled", "status": "delivered"},
           "the second report")


def outlives_the_daemon(daemon):
    event_id = publish(daemon, "manual.job")
    held = claim(daemon, "examples.manual")[0]
    daemon.kill()
    daemon.start()
    expect(event(daemon, event_id)["status"], "in_flight", "a claim over HTTP survives the daemon")
    expect(settle(daemon, held["claim"], "failed", error_class="SmtpError", message="greylisted",
                  retry_after_seconds=0)["status"], "pending", "a failure after the restart")
    again = claim(daemon, "examples.manual", wait_seconds=20)[0]
    expect((again["event"]["event_id"], again["attempts"]), (event_id, 1), "the retry")
    expect(settle(daemon, again["claim"], "handled")["status"], "delivered", "the end")
    expect(settle(daemon, again["claim"], "handled")["result"], "fenced", "the same report again")


def waits_for_what_comes(daemon):
    """A question that waits is answered by the publish, not by its time."""
    waiting = subprocess.Popen(
        [sys.executable, "-c", "import json, sys, urllib.request as u; print(u.urlopen(u.Request(sys.argv[1], sys.argv[2].encode(), "
         "{'Content-Type': 'application/json'}), timeout=90).read().decode())", daemon.url + "v1/claims",
         json.dumps({"handler": "examples.waiting", "event_types": ["waited.*"], "worker": "test", "wait_seconds": 60})],
        stdout=subprocess.PIPE, text=True)
    daemon.await_(lambda: any("examples.waiting" in one["handlers"] for one in daemon.get("/v1/workers")["workers"]), "it waits")
    event_id = publish(daemon, "waited.for")
    claims = json.loads(waiting.communicate(timeout=60)[0])["claims"]
    expect([one["event"]["event_id"] for one in claims], [event_id], "what it waited for")
    expect(settle(daemon, claims[0]["claim"], "handled")["status"], "delivered", "settled")


def ordinary_failures(daemon):
    """What languages throw is taken, in one request with settlements that are wrong."""
    thrown = [("Net::ReadTimeout", "ä" * 5000), ("std::runtime_error", "a\0b"), ("App\\Exceptions\\Oops", "x"), ("ERR-42", "")]
    for _ in thrown:
        publish(daemon, "manual.job")
    claims = claim(daemon, "examples.manual", limit=len(thrown))
    expect(len(claims), len(thrown), "claims")
    settlements = [{"claim": one["claim"], "outcome": "failed", "error_class": name, "message": message, "terminal": True}
                   for one, (name, message) in zip(claims, thrown)]
    wrong = [{"claim": "x", "outcome": "handled"}, {"claim": claims[0]["claim"], "outcome": "gone"}, 7]
    answers = post(daemon, "/v1/claims/settle", {"settlements": wrong + settlements})["settled"]
    expect([(one["result"], one.get("field")) for one in answers[:3]],
           [("invalid", "settlements[0].claim"), ("invalid", "settlements[1].outcome"), ("invalid", "settlements[2]")], "the wrong ones")
    expect([one["result"] for one in answers[3:]], ["settled"] * len(thrown), "the good ones beside them")
    errors = [event(daemon, one["event"]["event_id"])["last_error"] for one in claims]
    expect([error.split(":")[0] for error in errors], ["ReadTimeout", "runtime_error", "App\\Exceptions\\Oops", "ERR-42"], "their classes")
    expect(4000 < len(errors[0].encode()) <= 4096, True, "a long message is cut")
    expect(errors[1], "runtime_error: a\\x00b", "a NUL is shown")


def forged_claims(daemon):
    """Whoever knows everything about a claim but its token cannot settle it."""
    event_id = publish(daemon, "manual.job")
    held = claim(daemon, "examples.manual")[0]["claim"]
    mine = base64.b64decode(held)
    payload = mine[32:]
    before = {one["identity"] for one in daemon.get("/v1/workers")["workers"]}
    for forged in (payload, b"\0" * 32 + payload, mine[:-2] + b"\0\0", mine[:32] + payload.replace(b"~", b"~0~", 1)):
        token = base64.b64encode(forged).decode()
        expect(settle(daemon, token, "handled")["result"], "invalid", "a forged claim")
        kept = post(daemon, "/v1/claims/heartbeat", {"claims": [token]})
        expect((kept["lost"], kept["invalid"][0]["field"]), ([token], "claims[0]"), "a forged heartbeat")
    expect(event(daemon, event_id)["status"], "in_flight", "the event is still held")
    expect({one["identity"] for one in daemon.get("/v1/workers")["workers"]}, before, "nobody was listed for it")
    expect(settle(daemon, held, "handled")["status"], "delivered", "by who holds it")


def unnamed_workers(daemon):
    """Connections are no workers."""
    for _ in range(30):
        post(daemon, "/v1/claims", {"handler": "examples.unnamed", "event_types": ["nothing.*"], "wait_seconds": 0})
    listed = [one["identity"] for one in daemon.get("/v1/workers")["workers"] if "examples.unnamed" in one["handlers"]]
    expect(listed, ["pull:examples.unnamed:127.0.0.1"], "thirty requests")


def cuts_by_bytes(daemon, folder, node_worker):
    """The shipped workers send no more than is kept, whatever the characters."""
    for event_type, command in (("throwing.python", [sys.executable, "-B", "-c", THROWING_PYTHON, folder, daemon.url]),
                                ("throwing.node", ["node", "--input-type=module", "-e", THROWING_NODE, daemon.url, node_worker])):
        event_id = publish(daemon, event_type)
        worker = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            daemon.await_(lambda: event(daemon, event_id)["status"] == "failed", f"{command[0]} reports its failure")
        finally:
            worker.kill()
            worker.wait(timeout=60)
        error = event(daemon, event_id)["last_error"]
        expect((error.startswith("Terminal: ä"), len(error.encode()) <= 4096, "\ufffd" in error), (True, True, False), command[0])


def refusals(daemon):
    for path, body, field in (("/v1/claims", {"handler": "nodot"}, "handler"),
                              ("/v1/claims", {"handler": "elsewhere.log", "event_types": ["*"]}, "handler"),
                              ("/v1/claims/settle", {"settlements": 7}, "settlements"),
                              ("/v1/claims/heartbeat", {"claims": "x"}, "claims")):
        answer = daemon.call("POST", path, body)
        expect((answer.status in (400, 409), answer.json()["field"]), (True, field), f"{path} {body}")


def main():
    sluice, kind, python_worker, node_worker = sys.argv[1:5]
    with Serving(sluice, kind, CONFIGURATION) as daemon:
        daemon.start()
        example(daemon, [sys.executable, python_worker])
        example(daemon, ["node", node_worker])
        fenced_late_report(daemon)
        outlives_the_daemon(daemon)
        waits_for_what_comes(daemon)
        killed_worker(daemon, os.path.dirname(python_worker))
        ordinary_failures(daemon)
        forged_claims(daemon)
        unnamed_workers(daemon)
        cuts_by_bytes(daemon, os.path.dirname(python_worker), node_worker)
        refusals(daemon)
    print("workers in Python and Node delivered, failed, were killed, fenced and stopped")


main()
