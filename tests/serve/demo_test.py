"""demo_test.py SLUICE ROOT: what `./run demo` promises: an outage that is over, 300 dead letters in three groups."""
import json
import re
import subprocess
import sys
import urllib.request


def main():
    sluice, root = sys.argv[1:3]
    demo = subprocess.Popen([sys.executable, f"{root}/demo/outage.py", sluice], stdout=subprocess.PIPE, text=True)
    try:
        url = next(match.group(1) for line in demo.stdout if (match := re.match(r"Open (\S+)dlq", line)))
        with urllib.request.urlopen(url + "v1/dlq/groups") as answer:
            groups = json.load(answer)["groups"]
        found = sorted((group["event_type"], group["count"]) for group in groups)
        wanted = [("shop.invoice.issued", 100), ("shop.order.placed", 100), ("shop.parcel.sent", 100)]
        if found != wanted:
            sys.exit(f"groups: {found}")

        def post(path, body):
            request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
            with urllib.request.urlopen(request) as reply:
                return json.load(reply)

        plan = post("v1/plans", {"all": True, "canary": 10})
        post(f"v1/operations/{plan['token']}/start", {"count": plan["total"], "reason": "the receiver is fixed"})
        while True:
            with urllib.request.urlopen(f"{url}v1/operations/{plan['token']}") as answer:
                operation = json.load(answer)
            if operation["state"] != "running":
                break
        if (operation["state"], operation["delivered"]) != ("finished", 300):
            sys.exit(f"the replay: {operation}")
    finally:
        demo.terminate()
        demo.wait(timeout=60)
    print("300 dead letters in three groups, replayed and delivered")


main()
