"""http_details_test.py SLUICE postgres|sqlite: what a careful client notices: statuses, paths that are none, a proxy in front, bodies that
are packed, a duplicate as it is stored, and metrics that are there before anything has happened."""
import gzip
import http.client
import json
import sys

from serving import Answer, Serving, expect

# Without a subscription of its own the daemon would log every event.
CONFIGURATION = """\
[http]
hosts = "ops.example"

[subscriptions."elsewhere.log"]
events = ["elsewhere.*"]
sink = "log"
"""
EVENT = {"event_type": "shop.sold", "source": "shop", "event_id": "01890a5d-ac96-774b-bcce-b302099a8057"}
PROBLEM = "application/problem+json"
GAUGES = ("sluice_backlog_events", "sluice_backlog_oldest_age_seconds", "sluice_waiting_events", "sluice_in_flight_events",
          "sluice_dead_events")


def metric(daemon, name):
    for line in daemon.call("GET", "/metrics").text.splitlines():
        if line.startswith(name + " ") or line.startswith(name + "{"):
            return float(line.rsplit(" ", 1)[1])
    return None


def fresh_gauges(daemon):
    for name in GAUGES:
        expect(daemon.await_(lambda: metric(daemon, name + '{generation="1"}') is not None and "there", name), "there", name)
    daemon.call("POST", "/v1/generations", {"generation": 9, "reason": "testing"})
    for name in GAUGES:
        daemon.await_(lambda: metric(daemon, name + '{generation="9"}') == 0, f"{name} of a generation that has nothing")


def behind_a_proxy(daemon):
    """The proxy calls the server by its address; the browser called the proxy by a name that is listed."""
    for origin, status in (("https://ops.example", 201), ("https://ops.example:8443", 201), ("https://evil.example", 403)):
        headers = {"Host": f"127.0.0.1:{daemon.port}", "Origin": origin}
        expect(daemon.call("POST", "/v1/events", EVENT | {"event_type": "elsewhere.x"}, headers).status, status, origin)


def paths_that_are_none(daemon):
    for method, path in (("POST", "/v1/event"), ("GET", "/v2/events"), ("GET", "/metrics/"), ("GET", "/v1/events/"), ("PUT", "/nowhere"),
                         ("GET", "/nowhere")):
        answer = daemon.call(method, path, {} if method != "GET" else None)
        expect((answer.status, answer.headers["content-type"]), (404, PROBLEM), f"{method} {path}")
    reader = daemon.call("GET", "/nowhere", headers={"Accept": "text/html"})
    expect(reader.status, 404, "an address that somebody typed")
    for path in ("/", "/dlq", "/dlq/items", "/events", f"/events/{EVENT['event_id']}", "/operations", "/audit"):
        answer = daemon.call("GET", path)
        expect((answer.status, answer.headers["content-type"].split(";")[0]), (200, "text/html"), f"the screen {path}")
    refused = daemon.call("POST", "/dlq", {})
    expect((refused.status, refused.headers["allow"]), (405, "GET"), "a POST to a screen")


def packed_bodies(daemon):
    packed = gzip.compress(json.dumps(EVENT).encode())
    for path in ("/v1/events", "/v1/claims", "/mcp", "/hooks/nobody"):
        for body in (packed, json.dumps(EVENT).encode()):
            answer = daemon.call("POST", path, body, {"Content-Type": "application/json", "Content-Encoding": "gzip"})
            expect((answer.status, answer.headers["accept-encoding"]), (415, "identity"), path)
    plain = daemon.call("POST", "/v1/claims/settle", b"{}", {"Content-Type": "application/json", "Content-Encoding": "identity"})
    expect(plain.status, 400, "a body as it is")


def no_host(daemon):
    for path in ("/v1/me", "/healthz", "/nowhere"):
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
        connection.putrequest("GET", path, skip_host=True)
        connection.endheaders()
        answer = Answer(connection.getresponse())
        expect((answer.status, answer.headers["content-type"]), (400, PROBLEM), f"no Host for {path}")
        connection.close()


def duplicates(daemon):
    first = EVENT | {"event_id": "01890a5d-ac96-774b-bcce-b302099a8058", "payload": {"n": 1}, "ordering_key": "first"}
    expect(daemon.call("POST", "/v1/events", first).status, 201, "the first")
    again = daemon.call("POST", "/v1/events", first | {"payload": {"n": 2}, "ordering_key": "second"}).json()
    expect((again["outcome"], again["payload"], again["ordering_key"]), ("duplicate", {"n": 1}, "first"), "a duplicate, as it is stored")
    many = daemon.call("POST", "/v1/events", {"events": [EVENT | {"event_id": "01890a5d-ac96-774b-bcce-b302099a8059"},
                                                         first | {"payload": {"n": 3}}]}).json()
    expect([(one["outcome"], one["payload"]) for one in many["events"]], [("published", {}), ("duplicate", {"n": 1})], "one of two")
    told = daemon.cli("publish", "shop.sold", "--source", "shop", "--id", first["event_id"], "--data", '{"n":4}') if daemon.kind == "postgres" else None
    if told:
        expect((told["outcome"], told["payload"]), ("duplicate", {"n": 1}), "the command line tells the same")
    empty = daemon.call("POST", "/v1/events", "[]", {"Content-Type": "application/cloudevents-batch+json"})
    expect((empty.status, empty.json()), (200, {"events": [], "count": 0}), "an empty batch of CloudEvents")


def pulled_events_are_claimed(daemon):
    # What was published before is claimed before.
    seen = f"/v1/events/{EVENT['event_id']}"
    daemon.await_(lambda: daemon.call("GET", seen).json()["status"] == "delivered", "the event before is delivered")
    before = metric(daemon, "sluice_claimed_events_total")
    daemon.call("POST", "/v1/events", {"event_type": "pulled.one", "source": "shop"})
    wanted = {"handler": "tests.pulling", "event_types": ["pulled.*"], "wait_seconds": 20}
    expect(len(daemon.call("POST", "/v1/claims", wanted).json()["claims"]), 1, "an event is pulled")
    expect(metric(daemon, "sluice_claimed_events_total"), (before or 0) + 1, "and counted")


def main():
    sluice, kind = sys.argv[1:3]
    with Serving(sluice, kind, CONFIGURATION) as daemon:
        daemon.start()
        fresh_gauges(daemon)
        behind_a_proxy(daemon)
        paths_that_are_none(daemon)
        packed_bodies(daemon)
        no_host(daemon)
        duplicates(daemon)
        pulled_events_are_claimed(daemon)
    print("statuses, paths, a proxy, packed bodies, duplicates and gauges are as they should be")


main()
