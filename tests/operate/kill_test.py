"""kill_test.py SLUICE WORKER postgres|sqlite KILLS: kill -9 of the process that carries out a bulk replay, at random points; the
next one goes on, and no event is replayed twice."""
import os
import random
import select
import sys

from outage import Outage, expect

EVENTS = 600
RATE = 60


def kill_at_random(shop, process, seed):
    """Waits for the end of the process for a random time, then kills it. True when it had ended by itself."""
    os.set_blocking(process.stdout.fileno(), False)
    ended, _, _ = select.select([process.stdout], [], [], seed.uniform(0.0, 0.25))
    if ended:
        return process.wait(timeout=60) == 0
    process.kill()
    process.wait(timeout=60)
    return False


def main():
    sluice, worker, kind, kills = *sys.argv[1:4], int(sys.argv[4])
    number = int(os.environ.get("SEED", random.randrange(1 << 32)))
    print(f"SEED={number}")
    seed = random.Random(number)
    with Outage(sluice, worker, kind) as shop:
        shop.breaks()
        shop.start_worker()
        shop.publish(EVENTS)
        shop.await_dead(EVENTS)
        shop.is_mended()
        plan = shop.json("dlq", "plan", "--all", "--canary", "5", "--rate", str(RATE))["token"]
        killed = 0
        process = shop.start("dlq", "replay", "--plan", plan, "--reason", "the provider is back", "--yes")
        while killed < kills and not kill_at_random(shop, process, seed):
            killed += 1
            if shop.json("op", "show", plan)["state"] == "planned":
                process = shop.start("dlq", "replay", "--plan", plan, "--reason", "the provider is back", "--yes")
            else:
                process = shop.start("op", "watch", plan)
        process.wait(timeout=300)
        done = shop.json("op", "show", plan)
        if done["state"] != "finished":
            sys.exit(f"{done}: {process.stderr.read()}")
        expect((done["delivered"], done["skipped"], done["failed_again"]), (EVENTS, 0, 0), "the operation")
        length = "jsonb_array_length" if kind == "postgres" else "json_array_length"
        expect(shop.sql(f"select count(*) from core.outbox where {length}(failure_history) <> 1 or status <> 'delivered'"), ["0"],
               "events that were not replayed exactly once")
        expect(shop.sql("select count(*) from core.audit where action = 'replay.bulk'"), ["1"], "audit records")
        expect(killed, kills, "kills before it ended: make the replay slower")
    print(f"{killed} kills, {EVENTS} events replayed once each")


main()
