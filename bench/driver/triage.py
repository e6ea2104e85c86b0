"""What an operator waits for when a million events have failed: commands, and the calls of the console."""
import json
import time
import urllib.parse
import urllib.request

from driver.daemon import NOBODY, Daemon
from driver.database import BIN, Database
from driver.figures import alone, in_turn, percentile, value_at_most, versus
from driver.programs import ROOT, SLUICE, output_of

# The runbook's own way to the same answers: over the table.
RUNBOOK_GROUPS = """select event_type, source, target, split_part(last_error, ':', 1) as error_class, count(*) from core.outbox
where status = 'failed' and deleted_at is null group by event_type, source, target, error_class order by count(*) desc"""
RUNBOOK_LIST = """select id, event_type, last_error, claimed_at from core.outbox where status = 'failed' and deleted_at is null
and split_part(last_error, ':', 1) = 'TimeoutError' order by claimed_at desc limit 50"""

LONG_ENOUGH_MS = 10_000

# An answer that never ends is no call, and nobody has edited an event here.
LEFT_OUT = {"/v1/stream", "/v1/events/{id}/payload"}

# The parameters with which the console calls besides the bare address.
AS_THE_CONSOLE_ASKS = {
    "/v1/dlq/count": ["filter=class:TimeoutError"],
    "/v1/dlq/events": ["filter=class:TimeoutError", "filter=type:orders.paid+target:billing", "filter=text:refused"],
    "/v1/dlq/groups": ["filter=class:TimeoutError", "filter=type:orders.paid"],
    "/v1/events": ["filter=status:failed+since:1h", "filter=status:in_flight+since:45d&limit=200"],
    "/v1/operations": ["limit=100"],
    "/v1/overview": ["window=24h"],
}


def timed(act):
    begin = time.monotonic()
    act()
    return (time.monotonic() - begin) * 1000


def repeated(times, act):
    """Milliseconds of each; a slow one is repeated less often, and at least twice."""
    spent = []
    while len(spent) < times and (len(spent) < 2 or sum(spent) < LONG_ENOUGH_MS):
        spent.append(timed(act))
    return spent


def dlq(scale):
    """Whole commands, start of the process included; against the runbook's statements over the same table."""
    with Database() as database:
        database.bury(scale.dead)

        def sluice(*words):
            return lambda: timed(lambda: output_of([SLUICE, "dlq", *words, "--store", database.url, "-o", "json"]))

        def runbook(statement):
            return lambda: timed(lambda: output_of([f"{BIN}/psql", database.url, "-AtqX", "-c", statement]))

        for name, ours, theirs in (("dlq groups", sluice("groups"), runbook(RUNBOOK_GROUPS)),
                                   ("dlq list", sluice("list", "--class", "timeout"), runbook(RUNBOOK_LIST))):
            mine, other = (percentile(side, 0.95) for side in in_turn(scale.repeats, ours, theirs))
            yield versus(f"{name} p95 ({scale.dead:,} dead)", "ms", [mine], "the runbook's statement", [other])


def console_calls(api, values):
    """Every GET of the API, path parameters filled in, and the queries with which the console calls them."""
    for path, operations in sorted(api["paths"].items()):
        if "get" not in operations or path in LEFT_OUT:
            continue
        address = path.format(**values[path]) if "{" in path else path
        yield path, address
        for query in AS_THE_CONSOLE_ASKS.get(path, []):
            yield f"{path}?{query}", f"{address}?{query}"


def path_values(database, daemon):
    """An event, a group, a generation and a bulk operation for the addresses that name one."""
    plan = daemon.post("v1/plans", {"kind": "replay", "filter": "class:TimeoutError type:orders.paid", "to_generation": 1,
                                    "reason": "bench"})
    generation = json.loads(output_of([SLUICE, "generation", "allocate", "--store", database.url, "--reason", "bench", "-o", "json"]))
    event = {"id": database.sql("select id from core.outbox where status = 'failed' limit 1")}
    operation = {"id": plan["operation_id"]}
    group = {"fingerprint": database.sql("select fingerprint from core.failure_groups limit 1")}
    return {"/v1/events/{id}": event, "/v1/dlq/groups/{fingerprint}": group,
            "/v1/operations/{id}": operation, "/v1/operations/{id}/items": operation,
            "/v1/generations/{generation}/retire-check": {"generation": generation["generation"]}}


def fetched(url):
    with urllib.request.urlopen(urllib.parse.quote(url, safe=":/?&=+"), timeout=120) as answer:
        answer.read()


def dashboards(scale):
    """Every GET of the console's API with a million failed rows: p95 of each, one call at a time."""
    api = json.loads((ROOT / "src" / "http" / "openapi.json").read_text())
    with Database() as database:
        database.bury(scale.dead)
        with Daemon(database.url, NOBODY) as daemon:
            for name, address in console_calls(api, path_values(database, daemon)):
                times = repeated(scale.repeats, lambda: fetched(daemon.url.rstrip("/") + address))
                yield alone(f"GET {name}", "ms", [percentile(times, 0.95)], value_at_most(200),
                            f"p95 of {len(times)} calls, {scale.dead:,} failed rows")
