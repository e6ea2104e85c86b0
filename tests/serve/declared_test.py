"""declared_test.py SLUICE postgres|sqlite: subscriptions that are gone from the file. The daemon that declared them withdraws them when
it starts; another daemon's stay; while an old daemon still serves one, it stays, too."""
import copy
import sys

from serving import Serving, expect

KEPT = """\
[subscriptions."shop.kept"]
events = ["shop.*"]
sink = "log"
"""
GONE = """\
[subscriptions."shop.gone"]
events = ["shop.*"]
sink = "log"
"""
OTHER = """\
[subscriptions."other.handler"]
events = ["shop.*"]
sink = "log"
"""


def subscribed(daemon):
    return sorted(one["handler_name"] for one in daemon.get("/v1/subscriptions")["subscriptions"])


def publish(daemon):
    answer = daemon.call("POST", "/v1/events", {"event_type": "shop.sold", "source": "shop"})
    expect(answer.status, 201, f"a publish: {answer.text}")
    return answer.json()["event_id"]


def delivered(daemon, event_id):
    return daemon.get(f"/v1/events/{event_id}")["status"] == "delivered"


def another(daemon, folder=None):
    """A second daemon on the same store, with the same file or one of its own."""
    made = copy.copy(daemon)
    made.process = None
    if folder:
        made.folder = daemon.folder / folder
        made.folder.mkdir()
    return made


def main():
    sluice, kind = sys.argv[1:3]
    with Serving(sluice, kind, KEPT + GONE) as daemon:
        daemon.start()
        expect(subscribed(daemon), ["shop.gone", "shop.kept"], "at first")
        first = publish(daemon)
        daemon.await_(lambda: delivered(daemon, first), "delivery")
        daemon.stop()

        # Gone from the file while the daemon is down.
        daemon.configure(KEPT)
        daemon.start()
        expect(subscribed(daemon), ["shop.kept"], "after a start without it")
        second = publish(daemon)
        daemon.await_(lambda: delivered(daemon, second), "nothing waits for what is gone")
        audited = [one for one in daemon.get("/v1/audit")["records"] if one["action"] == "unsubscribe"]
        expect([(one["actor"], one["surface"]) for one in audited], [("sluice", "config")], "the audit")
        [kept] = daemon.get("/v1/subscriptions")["subscriptions"]
        expect(kept["declared_by"].startswith("serve:") and kept["declared_by"].endswith("/sluice.toml"), True,
               kept["declared_by"])

        # A daemon with another file starts and stops: neither touches the other's.
        other = another(daemon, "other")
        other.configure(OTHER)
        other.start()
        expect(subscribed(daemon), ["other.handler", "shop.kept"], "two daemons")
        other.stop()
        daemon.stop()
        daemon.start()
        expect(subscribed(daemon), ["other.handler", "shop.kept"], "after a start beside the other's")
        other.configure("")
        other.start()
        expect([name for name in subscribed(daemon) if name != "sluice.log"], ["shop.kept"], "an empty file")
        other.stop()

        # A rolling deployment: the new daemon waits for the old one.
        daemon.stop()
        daemon.configure(KEPT + GONE)
        daemon.start()
        daemon.configure(KEPT)
        new = another(daemon).start()
        expect(subscribed(new), ["shop.gone", "shop.kept"], "while the old daemon serves it")
        daemon.stop()
        new.await_(lambda: subscribed(new) == ["shop.kept"], "it goes with the old daemon")
        third = publish(new)
        new.await_(lambda: delivered(new, third), "delivery by the new daemon")

        # Put back by a daemon that starts later: the earlier one leaves it alone.
        daemon.configure(KEPT + GONE)
        daemon.start()
        new.stop()
        expect(subscribed(daemon), ["shop.gone", "shop.kept"], "declared again")
        print("withdrawn at the start, and nobody else's")


main()
