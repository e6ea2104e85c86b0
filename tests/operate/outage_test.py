"""outage_test.py SLUICE WORKER postgres|sqlite COUNT: an outage from "something failed" to "replayed and verified", by the
command line only."""
import sys

from outage import Outage, expect


def play(shop, count):
    shop.breaks()
    shop.start_worker()
    shop.publish(count)
    shop.await_dead(count)

    groups = shop.json("dlq", "groups")
    expect(groups["count"], count, "dead letters")
    expect(sorted(group["error_class"] for group in groups["groups"]), ["ConnectionError", "TerminalError", "TimeoutError"],
           "groups of failures")
    sample = shop.json("dlq", "list", "--class", "timeout", "--limit", "1")["events"][0]
    story = shop.json("dlq", "show", sample["event_id"])
    expect([handler["handler_name"] for handler in story["handlers"]], ["shop.outage"], "who has not handled it")

    # A canary while the shop is still broken: stopped, nothing else touched.
    stopped = shop.json("dlq", "replay", "--all", "--canary", "10", "--reason", "is it over?", "--yes", wanted=7)
    expect((stopped["state"], stopped["failed_again"], stopped["remaining"]), ("stopped", 10, count - 10), "the first canary")

    shop.is_mended()
    plan = shop.json("dlq", "plan", "--all", "--canary", "10", "--rate", "2000")
    expect((plan["total"], plan["preview"]["verdicts"]["will_run"]), (count, plan["preview"]["examined"]), "the plan")
    done = shop.json("dlq", "replay", "--plan", plan["token"], "--reason", "the provider is back", "--yes")
    expect((done["state"], done["delivered"], done["failed_again"], done["skipped"]), ("finished", count, 0, 0), "the replay")

    expect(shop.sql("select count(*) from core.outbox where status <> 'delivered'"), ["0"], "events not delivered")
    again = shop.run("dlq", "replay", "--all", "--reason", "once more", "--yes")
    expect("nothing to do" in again, True, "the second run says that there is nothing to do")
    verify(shop, count, plan["token"])


def verify(shop, count, operation):
    """The audit has one record per operation, the history of each row what went before the replay, by whom and why."""
    records = [record for record in shop.json("audit", "list")["records"] if record["action"] == "replay.bulk"]
    expect([(record["actor"], record["surface"], record["reason"], record["count"]) for record in records],
           [("ann@shop", "cli", "the provider is back", count), ("ann@shop", "cli", "is it over?", count)], "the audit")
    length = "jsonb_array_length" if shop.kind == "postgres" else "json_array_length"
    last = ("failure_history -> -1 ->> '{}'" if shop.kind == "postgres" else "json_extract(failure_history, '$[#-1].{}')").format
    expect(shop.sql(f"select {length}(failure_history) || ' ' || count(*) from core.outbox group by {length}(failure_history) "
                    f"order by 1"), [f"1 {count - 10}", "2 10"], "replays")
    expect(shop.sql(f"select count(*) from core.outbox where {last('replayed_by')} = 'ann@shop' and "
                    f"{last('operation_id')} = '{operation}' and {last('reason')} = 'the provider is back'"), [str(count)],
           "history entries of the replay")
    items = shop.run("op", "show", operation, "--items", "-o", "ndjson").splitlines()
    expect((len(items), sum('"state":"delivered"' in item for item in items)), (count, count), "items")


def main():
    sluice, worker, kind, count = *sys.argv[1:4], int(sys.argv[4])
    with Outage(sluice, worker, kind) as shop:
        play(shop, count)
    print(f"{count} events of three kinds failed and were all delivered after one replay")


main()
