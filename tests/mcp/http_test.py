"""http_test.py SLUICE: the tools over POST /mcp: both eras, roles, and an agent's replay in the audit."""
import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "serve"))
from serving import Serving, expect

TOKENS = {"viewer": "look", "operator": "act"}
CONFIGURATION = "".join(f"""\
[tokens.{role}]
role = "{role}"
token_sha256 = "{hashlib.sha256(token.encode()).hexdigest()}"
""" for role, token in TOKENS.items()) + """\
[sinks.away]
kind = "http"
url = "http://127.0.0.1:1/"
allow = ["127.0.0.1"]

[subscriptions."shop.away"]
sink = "away"
retry = { attempts = 1 }
"""
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "triage"}}


def post(daemon, role, message, **headers):
    return daemon.call("POST", "/mcp", message, {"Authorization": f"Bearer {TOKENS[role]}"} | headers)


def modern(daemon, role, method, **params):
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}
    return post(daemon, role, message, **headers)


def names(answer):
    return {tool["name"] for tool in answer.json()["result"]["tools"]}


def main():
    with Serving(sys.argv[1], "sqlite", CONFIGURATION) as daemon:
        daemon.start()
        operator = {"Authorization": f"Bearer {TOKENS['operator']}"}
        published = daemon.call("POST", "/v1/events", {"event_type": "shop.sold", "source": "shop"}, operator).json()
        daemon.await_(lambda: daemon.get("/v1/dlq/count", **operator)["count"] == 1, "the event fails")

        expect(daemon.call("POST", "/mcp", {}).status, 401, "nobody")
        expect("replay_dlq_event" in names(modern(daemon, "operator", "tools/list")), True, "an operator's tools")
        expect("replay_dlq_event" in names(modern(daemon, "viewer", "tools/list")), False, "a viewer's tools")
        old = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        expect("list_dlq_events" in names(post(daemon, "viewer", old, **{"MCP-Protocol-Version": "2025-11-25"})), True, "the older era")
        wrong = post(daemon, "viewer", {**old, "params": {"_meta": META}}, **{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "ping"})
        expect((wrong.status, wrong.json()["error"]["code"]), (400, -32020), "a header that disagrees")
        expect(daemon.call("GET", "/mcp", headers=operator).status, 405, "a GET: there is no stream")

        replayed = modern(daemon, "operator", "tools/call", name="replay_dlq_event",
                          arguments={"event_id": published["event_id"], "reason": "the receiver is back"})
        expect(replayed.json()["result"]["isError"], False, f"the replay: {replayed.text}")
        records = daemon.get("/v1/audit?action=replay", **operator)["records"]
        expect([(one["actor"], one["surface"], one["reason"]) for one in records],
               [("agent:triage (for operator)", "mcp", "the receiver is back")], "the audit")
    print("both eras, two roles, one replay")


main()
