"""lists_test.py SLUICE postgres|sqlite: a list of large events stays small on the wire; the payload comes with the event."""
import gzip
import http.client
import json
import random
import string
import sys

from serving import Serving, expect

EVENTS, PAYLOAD_BYTES, MOST_BYTES = 50, 250_000, 200_000
CONFIGURATION = '[subscriptions."elsewhere.log"]\nevents = ["elsewhere.*"]\nsink = "log"\n'
letters = random.Random(7)


def noise():
    """Nothing that compresses well: the heads must be small by themselves."""
    return "".join(letters.choices(string.ascii_letters + string.digits, k=PAYLOAD_BYTES))


def fetch(daemon, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    expect(answer.status, 200, path)
    return answer, body


def main():
    sluice, kind = sys.argv[1:3]
    with Serving(sluice, kind, CONFIGURATION) as daemon:
        daemon.start()
        payload = {"note": noise()}
        for _ in range(EVENTS):
            expect(daemon.call("POST", "/v1/events", {"event_type": "shop.sold", "source": "shop", "payload": payload}).status, 201, "publish")
        _, plain = fetch(daemon, "/v1/events?limit=50&payload=none")
        answer, packed = fetch(daemon, "/v1/events?limit=50&payload=none", **{"Accept-Encoding": "gzip"})
        expect(answer.headers["Content-Encoding"], "gzip", "the coding of a list")
        expect(gzip.decompress(packed), plain, "the list, packed and not")
        print(f"{EVENTS} events of {PAYLOAD_BYTES} bytes: {len(plain)} bytes, {len(packed)} packed")
        if len(plain) > MOST_BYTES:
            sys.exit(f"{len(plain)} bytes for a list of {EVENTS} events, at most {MOST_BYTES}")
        heads = json.loads(plain)["events"]
        expect(len(heads), EVENTS, "events of the list")
        expect([member for member in ("payload", "failure_history") if member in heads[0]], [], "members that a head has not")
        _, whole = fetch(daemon, f"/v1/events/{heads[0]['event_id']}")
        expect(json.loads(whole)["payload"], payload, "the payload of one event")
        _, two = fetch(daemon, "/v1/events?limit=2")
        expect([event["payload"] for event in json.loads(two)["events"]], [payload, payload], "a list that was asked for whole")
        refused = daemon.call("GET", "/v1/events?payload=some")
        expect((refused.status, refused.json()["field"]), (400, "payload"), "an unknown extent")


main()
