"""two_operators_test.py SLUICE WORKER postgres|sqlite: two operators replay the same event at once; one wins, the other is told
that the state has changed (exit 5)."""
import sys

from outage import Outage, expect

ROUNDS = 10


def main():
    sluice, worker, kind = sys.argv[1:4]
    with Outage(sluice, worker, kind) as shop:
        shop.breaks()
        shop.start_worker()
        shop.publish(ROUNDS)
        shop.await_dead(ROUNDS)
        shop.workers.pop().terminate()  # what is replayed stays pending
        ids = [event["event_id"] for event in shop.json("dlq", "list")["events"]]
        for event in ids:
            both = [shop.start("dlq", "replay", event, "--reason", f"operator {n}", "--yes") for n in (1, 2)]
            outputs = [process.communicate(timeout=60) for process in both]
            expect(sorted(process.returncode for process in both), [0, 5], f"exit codes {outputs}")
            loser = next(output for process, output in zip(both, outputs) if process.returncode == 5)
            expect("only a failed event can be replayed" in loser[1], True, f"what the loser reads: {loser[1]}")
        expect(shop.sql("select count(*) from core.audit where action = 'replay'"), [str(ROUNDS)], "audit records")
    print(f"{ROUNDS} events, two operators each: one replay per event")


main()
