"""daemon_test.py SLUICE WORKER postgres|sqlite: a bulk replay that is left to the daemon. The first daemon is killed on the way; the
next one goes on."""
import subprocess
import sys

from outage import Outage, expect, until

EVENTS = 120
RATE = 60


class Daemon:
    def __init__(self, shop):
        self.process = subprocess.Popen([shop.sluice, "serve", "-o", "json"], env=shop.environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        if '"ready":true' not in self.process.stdout.readline():
            sys.exit("the daemon did not start")


def await_progress(shop, operation, enough):
    return until(lambda: shop.json("op", "show", operation), enough)


def main():
    sluice, worker, kind = sys.argv[1:4]
    with Outage(sluice, worker, kind) as shop:
        shop.breaks()
        shop.start_worker()
        shop.publish(EVENTS)
        shop.await_dead(EVENTS)
        shop.is_mended()

        first = Daemon(shop)
        started = shop.json("dlq", "replay", "--all", "--rate", str(RATE), "--detach", "--reason", "the provider is back", "--yes")
        operation = started["operation_id"]
        half = await_progress(shop, operation, lambda seen: seen["delivered"] >= 10)
        first.process.kill()
        first.process.wait(timeout=60)

        second = Daemon(shop)
        done = await_progress(shop, operation, lambda seen: seen["state"] != "running")
        expect((done["state"], done["delivered"], done["failed_again"], done["skipped"]), ("finished", EVENTS, 0, 0), "the replay")
        expect(done["executor"] != half["executor"], True, f"the second daemon took over from {half['executor']}")
        second.process.terminate()
        expect(second.process.wait(timeout=60), 0, "the daemon's exit")
        expect(shop.sql("select count(*) from core.audit where action = 'replay.bulk'"), ["1"], "audit records")
    print(f"{EVENTS} events replayed by two daemons, one after the other")


main()
