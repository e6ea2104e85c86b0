"""webhooks_test.py SLUICE postgres|sqlite: the webhook inbox. Genuine deliveries are stored once and processed under the inbox policy;
wrong, old, replayed and missing signatures get 401 and nothing is stored."""
import base64
import hashlib
import hmac
import json
import sys
import time

from receiving import Receiver
from serving import Serving, expect

KEY = b"thirty-two bytes of a secret key"
CONFIGURATION = """\
[hooks.pay]
kind = "standard"
secrets = ["whsec_{secret}"]

[hooks.github]
kind = "github"
secrets = ["{plain}"]

[sinks.receiver]
kind = "http"
url = "{url}"
allow = ["127.0.0.1"]

[subscriptions."payments.inbox"]
events = ["pay.*", "github.*"]
sink = "receiver"
"""


def standard(message_id, body, at=None, key=KEY):
    timestamp = str(int(at if at is not None else time.time()))
    signature = hmac.new(key, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return {"Content-Type": "application/json", "webhook-id": message_id, "webhook-timestamp": timestamp,
            "webhook-signature": "v1," + base64.b64encode(signature).decode()}


def github(delivery, body, key=KEY):
    return {"Content-Type": "application/json", "X-GitHub-Delivery": delivery, "X-GitHub-Event": "push",
            "X-Hub-Signature-256": "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest()}


def stored(daemon):
    return len(daemon.get("/v1/events?limit=100")["events"])


def main():
    sluice, kind = sys.argv[1:3]
    receiver = Receiver()
    configuration = CONFIGURATION.format(secret=base64.b64encode(KEY).decode(), plain=KEY.decode(), url=receiver.url)
    with Serving(sluice, kind, configuration) as daemon:
        daemon.environment |= {"RETRY_BASE_DELAY": "1", "RETRY_MAX_DELAY": "1", "MAX_ATTEMPTS": "2"}
        daemon.start()
        body = b'{"type":"invoice.paid","data":{"n":1}}'

        def post(source, headers, sent=body):
            return daemon.call("POST", f"/hooks/{source}", sent, headers)

        refused = {
            "wrong": post("pay", standard("m0", body, key=b"another key")),
            "other body": post("pay", standard("m0", body), body + b" "),
            "old": post("pay", standard("m0", body, at=time.time() - 301)),
            "ahead": post("pay", standard("m0", body, at=time.time() + 301)),
            "missing": post("pay", {"Content-Type": "application/json"}),
            "github wrong": post("github", github("d0", body, key=b"another key")),
        }
        for what, answer in refused.items():
            expect(answer.status, 401, what)
        expect(post("nobody", standard("m0", body)).status, 404, "an unknown source")
        expect(post("pay", standard("m0", b"x" * 900_000), b"x" * 900_000).status, 413, "too large")
        expect(stored(daemon), 0, "what was stored")

        first = post("pay", standard("m1", body))
        expect((first.status, first.json()["outcome"]), (202, "published"), f"a genuine one: {first.text}")
        again = post("pay", standard("m1", body))
        expect((again.status, again.json()["outcome"]), (200, "duplicate"), "the same delivery")
        expect(again.json()["event_id"], first.json()["event_id"], "its id")
        expect(post("github", github("d1", body)).status, 202, "from GitHub")
        receiver.await_(2)
        expect(stored(daemon), 2, "what is stored")
        types = {json.loads(one)["event_type"] for one in receiver.bodies}
        expect(types, {"pay.invoice.paid", "github.push"}, "what was delivered")

        receiver.status = 500
        failing = post("pay", standard("m2", body)).json()["event_id"]
        dead = daemon.await_(lambda: (found := daemon.get(f"/v1/events/{failing}"))["status"] == "failed" and found, "it fails")
        expect(dead["attempts"], 2, "MAX_ATTEMPTS of the inbox policy")
    print("genuine webhooks stored once, all others refused")


main()
