"""bounds_test.py SLUICE sqlite|postgres: what would stop the daemon or wait for ever is refused over HTTP, with a sentence that names
the field. What is in the database all the same stops nothing, and while nothing can be claimed the daemon is not ready."""
import sys

from serving import Serving, expect

CLAIM = "core.outbox_claim(bigint, text, int, interval, bigint, bigint, text[], text[], text[], boolean, bigint[], interval)"


def numbers(count):
    return '{"a":[' + ",".join(["1e99999"] * count) + "]}"


def post(daemon, payload="{}", rest=""):
    body = '{"event_type":"demo.hello","source":"demo","payload":' + payload + rest + "}"
    return daemon.call("POST", "/v1/events", body, {"Content-Type": "application/json"})


def refused(daemon, field, says, **event):
    answer = post(daemon, **event)
    expect(answer.status, 400, f"{says}: {answer.text[:300]}")
    expect(answer.json()["field"], field, "the field")
    expect(says in answer.json()["detail"], True, answer.json()["detail"][:300])


def deliver(daemon, what):
    answer = post(daemon)
    expect(answer.status, 201, answer.text)
    event = answer.json()["event_id"]
    daemon.await_(lambda: daemon.get(f"/v1/events/{event}")["status"] == "delivered", what)


def ready(daemon):
    return daemon.call("GET", "/readyz").status


def smuggled(daemon):
    """Past the triggers, as a restored dump may be: lists go on, delivery goes on, and it becomes a dead letter."""
    bomb = daemon.database.sql(
        "set session_replication_role = replica; insert into core.outbox (event_type, source, generation, payload, idempotency_key,"
        " channel) values ('demo.bomb', 'demo', 1, ('{\"a\":[' || repeat('1e99999,', 12000) || '1]}')::jsonb, 'bomb',"
        " 'outbox_gen_1') returning id")
    deliver(daemon, "an event behind one that cannot be read is delivered")
    daemon.await_(lambda: daemon.get("/v1/events?filter=status:failed")["events"], "what cannot be read is a dead letter")
    dead = daemon.get("/v1/events?filter=status:failed")["events"][0]
    expect(dead["event_id"], bomb, "the dead letter")
    expect(dead["error_class"], "PayloadError", "its class")
    expect(dead["payload"], None, "its payload")
    expect("67108864 bytes" in dead["unreadable"], True, dead["unreadable"])
    expect(len(daemon.get("/v1/events")["events"]) >= 2, True, "the list")


def not_ready(daemon):
    expect(ready(daemon), 200, "ready while claims work")
    daemon.database.sql(f"alter function {CLAIM} rename to outbox_claim_away")
    post(daemon)
    daemon.await_(lambda: ready(daemon) == 503, "not ready while claims fail")
    expect(daemon.get("/readyz")["code"], "not_delivering", "its code")
    daemon.database.sql(f"alter function {CLAIM.replace('outbox_claim(', 'outbox_claim_away(')} rename to outbox_claim")
    daemon.await_(lambda: ready(daemon) == 200, "ready again")


def main():
    with Serving(sys.argv[1], sys.argv[2]) as daemon:
        daemon.start()
        size = "payload must be at most 262144 bytes with its numbers written out"
        refused(daemon, "payload", size, payload=numbers(20_000))
        refused(daemon, "payload", size, payload=numbers(3))
        refused(daemon, "payload", "a number may have", payload='{"a":1e999999}')
        refused(daemon, "payload", 'has the member "b" twice', payload='{"a":{"b":1,"b":2}}')
        refused(daemon, "generation", "generation 999 does not exist", rest=',"generation":999')
        expect(daemon.get("/v1/events")["events"], [], "nothing is stored")
        deliver(daemon, "the next good event is delivered")
        if daemon.database:
            smuggled(daemon)
            not_ready(daemon)
        daemon.stop()
    print("refused, or read around; and said when nothing could be claimed")


main()
