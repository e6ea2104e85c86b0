"""reload_test.py SLUICE postgres|sqlite: the configuration changes under load (SIGHUP): the first receiver's events stop, the second
one's begin, every event reaches one of them, and a file with an error changes nothing."""
import sys
import threading

from receiving import Receiver
from serving import Serving, expect

CONFIGURATION = """\
[sinks.{name}]
kind = "http"
url = "{url}"
allow = ["127.0.0.1"]

[subscriptions."shop.{name}"]
events = ["shop.*"]
sink = "{name}"
"""


def subscribed(daemon):
    return [one["handler_name"] for one in daemon.get("/v1/subscriptions")["subscriptions"]]


def main():
    sluice, kind = sys.argv[1:3]
    first, second = Receiver(), Receiver()
    with Serving(sluice, kind, CONFIGURATION.format(name="first", url=first.url)) as daemon:
        daemon.start()
        published, stop = [], threading.Event()

        def publish():
            while not stop.is_set():
                answer = daemon.call("POST", "/v1/events", {"event_type": "shop.sold", "source": "shop"})
                expect(answer.status, 201, f"a publish: {answer.text}")
                published.append(answer.json()["event_id"])

        publishers = [threading.Thread(target=publish) for _ in range(4)]
        for publisher in publishers:
            publisher.start()
        first.await_(50)

        daemon.configure(CONFIGURATION.format(name="second", url=second.url) + "typo = 1\n")
        daemon.reload()
        daemon.await_(lambda: "typo" in (daemon.folder / "log").read_text(), "the error is told")
        expect(subscribed(daemon), ["shop.first"], "after a file with an error")

        daemon.configure(CONFIGURATION.format(name="second", url=second.url))
        daemon.reload()
        second.await_(50)
        expect(subscribed(daemon), ["shop.second"], "after the reload")

        stop.set()
        for publisher in publishers:
            publisher.join()
        def undelivered():
            counts = daemon.get("/v1/status")["generations"][0]
            return counts["pending"] + counts["in_flight"] + counts["failed"]
        daemon.await_(lambda: undelivered() == 0, "everything is delivered")
        reached = set(first.ids()) | set(second.ids())
        expect(sorted(set(published) - reached), [], "events that reached nobody")
        expect(daemon.call("GET", "/v1/sinks").json()["sinks"][-1]["name"], "second", "the sinks")
        print(f"{len(published)} events, {len(first.bodies)} deliveries to the first receiver and {len(second.bodies)} to the second")


main()
