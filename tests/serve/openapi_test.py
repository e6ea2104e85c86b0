"""openapi_test.py SLUICE postgres|sqlite: the contract against the running server: every operation that it names is called, and
each answer, good or bad, has a status and a body that the contract allows."""
import json
import os
import sys
import tempfile
from pathlib import Path

from serving import Serving, expect
from node_program import run_script

NOBODY = "0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e"
CONFIGURATION = """\
edit_replay = true
[sinks.away]
kind = "http"
url = "http://127.0.0.1:1/"
allow = ["127.0.0.1"]

[subscriptions."shop.away"]
events = ["shop.*"]
sink = "away"
retry = { attempts = 1 }

[subscriptions."demo.logger"]
events = ["demo.*"]
sink = "log"
"""
CLOUD_EVENT = {"specversion": "1.0", "id": NOBODY, "source": "demo", "type": "demo.cloud", "data": {"n": 1}}


class Recorder:
    """Calls, and remembers what the contract has to allow."""

    def __init__(self, daemon):
        self.daemon, self.calls = daemon, []

    def __call__(self, method, template, body=None, headers=None, query="", **values):
        path = template
        for name, value in values.items():
            path = path.replace("{" + name + "}", str(value))
        answer = self.daemon.call(method, path + query, body, headers)
        self.calls.append({"method": method.lower(), "path": template, "status": answer.status, "body": answer.text,
                           "type": answer.headers.get("content-type", "").split(";")[0]})
        return answer


def publish(call):
    event = {"event_type": "shop.sold", "source": "shop", "payload": {"n": 12345678901234567890}}
    call("POST", "/v1/events", event)
    call("POST", "/v1/events", {"events": [event] * 3})
    call("POST", "/v1/events", {"event_type": "demo.hello", "source": "demo", "ordering_key": "k"})
    call("POST", "/v1/events", json.dumps(CLOUD_EVENT), {"Content-Type": "application/cloudevents+json"})
    call("POST", "/v1/events", json.dumps([CLOUD_EVENT]), {"Content-Type": "application/cloudevents-batch+json"})
    call("POST", "/v1/events", "[]", {"Content-Type": "application/cloudevents-batch+json"})
    call("POST", "/v1/events", {"source": "shop"})
    call("POST", "/v1/events", "n=1", {"Content-Type": "application/x-www-form-urlencoded"})


def look(call, event):
    for path in ("/v1/events", "/v1/dlq/events"):
        page = call("GET", path, query="?limit=2&filter=type:shop.*").json()
        call("GET", path, query=f"?limit=2&cursor={page['next_cursor']}")
        call("GET", path, query="?limit=2&payload=none")
        call("GET", path, query="?filter=color:red")
        oldest = call("GET", path, query="?limit=2&sort=oldest").json()
        call("GET", path, query=f"?limit=2&sort=oldest&cursor={oldest['next_cursor']}")
        expect(call("GET", path, query=f"?limit=2&cursor={oldest['next_cursor']}").status, 400, "a cursor of the other sort")
        expect(call("GET", path, query="?filter=data.order_id:4711").status, 400, "a search without a time range")
        call("GET", path, query="?filter=data.order_id:4711%20since:1h")
    for path in ("/v1/dlq/groups", "/v1/dlq/count", "/v1/me", "/v1/overview", "/v1/status", "/v1/doctor", "/v1/workers",
                 "/v1/subscriptions", "/v1/storage", "/v1/ladder", "/v1/history", "/v1/audit", "/v1/operations", "/v1/generations", "/v1/sinks", "/healthz",
                 "/readyz", "/metrics", "/openapi.json"):
        call("GET", path)
    call("GET", "/v1/overview", query="?window=forever")
    call("GET", "/v1/history", query="?window=7d&kind=handler")
    call("GET", "/v1/history", query="?kind=planet")
    call("GET", "/v1/dlq/groups/{fingerprint}", fingerprint="0123456789abcdef")
    call("GET", "/v1/events/{id}", id=event)
    call("GET", "/v1/events/{id}", id=event, query="?payload=text")
    call("GET", "/v1/events/{id}", id=NOBODY)
    call("GET", "/v1/events/{id}", id="seven")


def filters(call):
    call("POST", "/v1/filters", {"name": "late", "filter": "since:2h type:shop.*"})
    call("POST", "/v1/filters", {"name": "two words", "filter": "type:shop.*"})
    expect([one["filter"] for one in call("GET", "/v1/filters").json()["filters"]], ["type:shop.* since:2h"], "the saved filters")
    call("GET", "/v1/dlq/events", query="?filter=saved:late")
    call("POST", "/v1/filters/{name}/remove", {"reason": "testing"}, name="late")
    call("POST", "/v1/filters/{name}/remove", name="late")


def change_one(call, dead):
    reason = {"reason": "testing"}
    later = {"event_type": "demo.later", "source": "demo", "delay": "1h"}
    event = call("POST", "/v1/events", later).json()["event_id"]
    path = "/v1/events/{id}/"
    call("POST", path + "reschedule", {"at": "2h"} | reason, id=event)
    call("POST", path + "reschedule", {"at": "soon"} | reason, id=event)
    call("POST", path + "cancel", reason, id=event)
    call("POST", path + "restore", reason, id=event)
    call("POST", path + "run-now", reason, id=event)
    for verb, more in (("run-now", {}), ("cancel", {}), ("resend", {"handler": "shop.away"}), ("edit-replay", {"payload": [1]})):
        call("POST", path + verb, more | reason, id=dead)
        call("POST", path + verb, more, id=dead)
        call("POST", path + verb, more | reason, id=NOBODY)


def edit(call, daemon, event):
    """The payload that replaces another, and the one before, keep their numbers."""
    path = "/v1/events/{id}/"
    report = call("POST", path + "edit-replay", '{"reason":"testing","payload":{"n":9007199254740993}}',
                  {"Content-Type": "application/json"}, id=event)
    expect((report.status, report.json()["cycle"]), (200, 1), "an edit")
    story = call("GET", "/v1/events/{id}", id=event, query="?payload=text").json()
    expect("9007199254740993" in story["payload_text"], True, f"the new payload: {story['payload_text']}")
    expect(story["edited_by_replay"], [1], "the replays that changed the payload")
    expect("12345678901234567890" in call("GET", path + "payload", id=event).json()["payload_text"], True, "the payload before")
    call("GET", path + "payload", id=event, query="?before_replay=0")
    expect(call("GET", path + "payload", id=event, query="?before_replay=2").status, 404, "a replay that edited nothing")
    daemon.await_(lambda: daemon.get("/v1/dlq/count")["count"] == 4, "the edited one fails again")


def change(call, daemon, dead):
    reason = {"reason": "testing"}
    change_one(call, dead[1])
    edit(call, daemon, dead[1])
    filters(call)
    call("POST", "/v1/events/{id}/discard", reason, id=dead[0])
    call("POST", "/v1/events/{id}/discard", {}, id=dead[0])
    call("POST", "/v1/events/{id}/restore", reason, id=dead[0])
    call("POST", "/v1/events/{id}/restore", reason, id=dead[0])
    call("POST", "/v1/events/{id}/replay", reason, id=dead[0])
    call("POST", "/v1/events/{id}/replay", reason, id=NOBODY)
    group = daemon.get("/v1/dlq/groups")["groups"][0]
    call("POST", "/v1/dlq/acknowledge", {"fingerprint": group["fingerprint"]} | reason)
    call("POST", "/v1/dlq/acknowledge", {"fingerprint": "ffff"} | reason)
    notes = "/v1/dlq/groups/{fingerprint}/notes"
    call("POST", notes, {"text": "ticket 4711"}, fingerprint=group["fingerprint"])
    call("POST", notes, {"text": " "}, fingerprint=group["fingerprint"])
    call("POST", notes, {"text": "x"}, fingerprint="ffff")
    told = call("GET", "/v1/dlq/groups/{fingerprint}", fingerprint=group["fingerprint"]).json()
    expect([comment["action"] for comment in told["comments"]], ["note", "acknowledge"], "what was said about the group")
    forecast = call("POST", "/v1/plans", {"filter": "type:shop.*", "dry_run": True}).json()
    expect(forecast["overlaps"], [], "what stands in the way of the dry run")
    call("POST", "/v1/plans", {"filter": "type:nothing"})
    call("POST", "/v1/plans", {})
    expect(call("POST", "/v1/plans", '{"all":true}', {"Content-Type": "text/plain"}).status, 415, "a plan that is a form's")
    daemon.await_(lambda: daemon.get("/v1/dlq/count")["count"] == 4, "the replayed one fails again")
    plan = call("POST", "/v1/plans", {"all": True, "except": [dead[1][:35]], "rate": 1} | reason).json()
    expect(plan.get("total", plan), 3, "all but one of the four that are dead")
    start = "/v1/operations/{id}/start"
    call("POST", start, {"count": 99} | reason, id=plan["token"])
    expect(call("GET", "/v1/operations/{id}", id=plan["token"]).json()["overlaps"], [], "what stands in the way of the plan")
    call("POST", start, {"count": plan["total"]} | reason, id=plan["token"])
    call("POST", start, {"count": plan["total"]} | reason, id=plan["token"])
    for verb in ("pause", "resume"):
        call("POST", "/v1/operations/{id}/" + verb, reason, id=plan["token"])
    call("POST", "/v1/operations/{id}/rate", {"rate": 5}, id=plan["token"])
    call("GET", "/v1/operations/{id}", id=plan["token"])
    call("GET", "/v1/operations/{id}", id=NOBODY)
    call("GET", "/v1/operations/{id}/items", id=plan["token"])
    call("POST", "/v1/operations/{id}/cancel", id=plan["token"])


def generations(call):
    reason = {"reason": "testing"}
    for number in (5, 6):
        call("POST", "/v1/generations", {"generation": number})
    call("POST", "/v1/generations", {"generation": 5})
    path = "/v1/generations/{generation}/"
    call("POST", path + "activate", reason, generation=5)
    call("POST", path + "reroute", {"to": 6, "dry_run": True} | reason, generation=5)
    call("POST", path + "reroute", {"to": 6} | reason, generation=5)
    call("POST", path + "drain", reason, generation=5)
    call("GET", path + "retire-check", generation=5)
    call("GET", path + "retire-check", generation=77)
    call("POST", path + "retire", reason, generation=5)
    call("POST", path + "retire", reason, generation=6)


def sinks_and_workers(call):
    for verb in ("pause", "resume"):
        call("POST", "/v1/sinks/{name}/" + verb, {"reason": "testing"}, name="away")
    call("POST", "/v1/sinks/{name}/test", name="away")
    call("POST", "/v1/sinks/{name}/test", name="nowhere")
    call("POST", "/v1/events", {"event_type": "work.todo", "source": "work"})
    claims = call("POST", "/v1/claims", {"handler": "work.doer", "event_types": ["work.*"], "wait_seconds": 20}).json()["claims"]
    expect(len(claims), 1, "claims")
    call("POST", "/v1/claims/heartbeat", {"claims": [claims[0]["claim"]]})
    for _ in range(2):
        call("POST", "/v1/claims/settle", {"settlements": [{"claim": claims[0]["claim"], "outcome": "handled"}]})
    call("POST", "/v1/claims/settle", {"settlements": [{"claim": "x", "outcome": "handled"}, 7]})
    call("POST", "/v1/claims/settle", {"settlements": []})
    call("POST", "/v1/claims/heartbeat", {"claims": ["x"]})
    call("POST", "/v1/claims", {"handler": "no scope"})
    call("POST", "/hooks/{source}", {}, source="nowhere")
    call("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    call("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"})
    call("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {"MCP-Protocol-Version": "1999-01-01"})
    call("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {"Mcp-Session-Id": "x"})
    call("POST", "/mcp", "{}", {"Content-Type": "text/plain"})


def main():
    sluice, kind = sys.argv[1:3]
    with Serving(sluice, kind, CONFIGURATION) as daemon:
        daemon.start()
        call = Recorder(daemon)
        publish(call)
        daemon.await_(lambda: daemon.get("/v1/dlq/count")["count"] == 4, "four events fail")
        dead = [event["event_id"] for event in daemon.get("/v1/dlq/events")["events"]]
        look(call, dead[0])
        change(call, daemon, dead)
        generations(call)
        sinks_and_workers(call)
        contract = json.loads(daemon.call("GET", "/openapi.json").text)
        missing = {(method, path) for path, methods in contract["paths"].items() for method in methods}
        missing -= {(one["method"], one["path"]) for one in call.calls} | {("get", "/v1/stream")}
        expect(sorted(missing), [], "operations that were not called")
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "calls.json"
            record.write_text(json.dumps({"contract": contract, "calls": call.calls}))
            expect(run_script(Path(__file__).parent, "openapi.mjs", os.environ, str(record)), 0, "openapi.mjs")
        print(f"{len(call.calls)} answers are as the contract says")


main()
