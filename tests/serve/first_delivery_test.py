"""first_delivery_test.py SLUICE: what the README promises a newcomer: publish with curl, a subscribed receiver gets the event with
a signature that the `standardwebhooks` package takes, and the event's story tells it."""
import json
import os
import subprocess
import sys
from pathlib import Path

from receiving import Receiver
from serving import Serving, expect
from node_program import start_script

SECRET = "whsec_c2x1aWNlLWRlbW8tc2VjcmV0LW5vdC1mb3ItdXNl"
CONFIGURATION = """\
[sinks.shop]
kind = "http"
url = "{url}"
secret = "{secret}"
allow = ["127.0.0.1"]

[subscriptions."shop.notifier"]
events = ["orders.*"]
sink = "shop"
"""


def verdict(headers, body):
    folder = Path(__file__).resolve().parents[1] / "serve_sink"
    with start_script(folder, "verify.mjs", os.environ) as script:
        line = json.dumps({"secret": SECRET, "headers": headers, "body": body.decode()})
        return script.communicate(line + "\n")[0].strip()


def main():
    receiver = Receiver()
    with Serving(sys.argv[1], "sqlite", CONFIGURATION.format(url=receiver.url, secret=SECRET)) as daemon:
        daemon.start()
        curl = ["curl", "-sf", f"{daemon.url}v1/events", "-H", "content-type: application/json",
                "-d", '{"event_type":"orders.placed","source":"shop","payload":{"order":9007199254740993}}']
        event = json.loads(subprocess.run(curl, check=True, capture_output=True, text=True).stdout)
        receiver.await_(1)
        headers, body = receiver.headers[0], receiver.bodies[0]
        expect(verdict(headers, body), "verified", "the signature")
        expect(verdict(headers, body.replace(b"orders", b"orderz")), "refused: No matching signature found", "a changed body")
        expect(headers["webhook-id"], event["event_id"], "webhook-id")
        expect(b"9007199254740993" in body, True, "a number beyond 53 bits")

        def story():
            told = daemon.get(f"/v1/events/{event['event_id']}")
            return told if told["status"] == "delivered" else None

        told = daemon.await_(story, "the event is delivered")
        expect([moment["what"] for moment in told["timeline"]], ["occurred", "published", "claimed", "handled", "delivered"], "its story")
        expect([(one["handler_name"], one["state"]) for one in told["handlers"]], [("shop.notifier", "handled")], "its handlers")
    print("published by curl, delivered, signature verified")


main()
