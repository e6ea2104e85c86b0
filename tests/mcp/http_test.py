"""http_test.py SLUICE: the tools over POST /mcp: both eras, roles, and an agent's replay in the audit."""
import hashlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "serve"))
sys.path.insert(0, str(HERE.parent / "support"))
import node_program
from serving import Serving, expect

TOKENS = {"viewer": "look", "operator": "act"}
CONFIGURATION = "".join(f"""\
[tokens.{role}]
role = "{role}"
token_sha256 = "{hashlib.sha256(token.encode()).hexdigest()}"
""" for role, token in TOKENS.items()) + """\
[mcp]
max_rows = 2

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


def caps(daemon, operator, event_id):
    """Two rows an hour, as the configuration says; a reload raises it."""
    daemon.await_(lambda: daemon.get("/v1/dlq/count", **operator)["count"] == 1, "the replayed event fails again")
    replay = {"name": "replay_dlq_event", "arguments": {"event_id": event_id, "reason": "once more"}}
    expect(modern(daemon, "operator", "tools/call", **replay).json()["result"]["isError"], False, "the second row")
    daemon.await_(lambda: daemon.get("/v1/dlq/count", **operator)["count"] == 1, "it fails again")
    refused = modern(daemon, "operator", "tools/call", **replay).json()["result"]
    expect((refused["isError"], "mcp.max_rows" in refused["content"][0]["text"]), (True, True), f"the third row: {refused}")
    daemon.configure(CONFIGURATION.replace("max_rows = 2", "max_rows = 1000"))
    daemon.reload()
    daemon.await_(lambda: rows_left(daemon) == 1000, "the reload")


def rows_left(daemon):
    status = modern(daemon, "operator", "tools/call", name="get_status", arguments={}).json()["result"]["structuredContent"]
    return status["session"]["rows_left"]


def handshake(daemon, operator, event_id):
    """The client library, which begins with initialize: the audit knows its name."""
    daemon.await_(lambda: daemon.get("/v1/dlq/count", **operator)["count"] == 1, "the event is dead")
    with node_program.start_script(HERE, "sdk_http.mjs", None, daemon.url + "mcp", TOKENS["operator"], event_id) as script:
        session, _ = script.communicate()
    expect((script.returncode, session.strip() not in ("", "undefined")), (0, True), "the client library")
    actors = [one["actor"] for one in daemon.get("/v1/audit?action=replay", **operator)["records"]]
    expect("agent:triage-bot (for operator)" in actors, True, f"the audit: {actors}")


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

        caps(daemon, operator, published["event_id"])
        handshake(daemon, operator, published["event_id"])
    print("both eras, two roles, one replay")


main()
