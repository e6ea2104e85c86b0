"""story_test.py SLUICE OUTAGE_WORKER STORY postgres|sqlite PICTURES: one story of the console, in Chromium, against the real daemon."""
import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from pull_worker import claim, fail
from shop import Shop, expect, until

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def outage(shop):
    shop.dead(5000)
    shop.is_mended()
    shop.serve()
    shop.story("outage")
    expect(shop.dead_left(), 0, "dead letters")
    expect(shop.sql("select count(*) from core.outbox where status = 'delivered'"), ["5000"], "delivered events")
    records = shop.json("audit", "list", "--action", "replay.bulk")["records"]
    told = [(record["surface"], record["count"], record["reason"]) for record in records]
    expect(told, [("console", 5000, "the provider is back")], "the audit")


def canary(shop):
    shop.dead(60)
    shop.serve()
    shop.story("canary")
    expect(shop.dead_left(), 60, "dead letters")
    touched = shop.sql("select count(*) from core.outbox where failure_history <> '[]'")
    expect(touched, ["5"], "events that were replayed")


def exceptions(shop):
    shop.dead(60)
    shop.is_mended()
    shop.serve()
    shop.story("exceptions")
    expect(shop.dead_left(), 3, "dead letters")


def viewer_configuration(shop):
    digest = hashlib.sha256(b"viewer-token").hexdigest()
    config = Path(shop.folder.name) / "sluice.toml"
    config.write_text(f'[tokens.vera]\nrole = "viewer"\ntoken_sha256 = "{digest}"\n')
    return config


def viewer(shop):
    shop.dead(6)
    shop.serve("--config", str(viewer_configuration(shop)))
    shop.story("viewer")
    expect(shop.dead_left(), 6, "dead letters")


def groups(shop):
    shop.dead(6)
    shop.serve()
    shop.story("groups", lambda line: three_more_die(shop, line))
    [note] = shop.json("audit", "list", "--action", "note")["records"]
    expect((note["surface"], note["actor"], note["reason"]), ("console", "ann@shop", "<b>ticket</b> 4711"), "the audit of the note")


def reload(shop):
    shop.dead(30)
    shop.is_mended()
    shop.serve()
    shop.story("reload")
    expect(shop.dead_left(), 20, "dead letters")


def wall(shop):
    shop.dead(6)
    shop.serve("--config", str(viewer_configuration(shop)))
    shop.story("wall")


def survives(shop):
    shop.dead(60)
    shop.serve()
    shop.story("survives")
    expect(shop.dead_left(), 59, "dead letters")


def text(shop):
    shop.serve()
    expect(claim(shop, "text.hostile", 0), [], "claims before anything was published")
    note = "<script>window.taken=1</script>"
    shop.run("publish", "text.hostile", "--data", '{"n":9007199254740993,"price":0.10000000000000000001,"note":"%s"}' % note)
    [claimed] = claim(shop, "text.hostile", 20)
    fail(shop, claimed, '<img src=x onerror="window.taken=2">')
    shop.await_dead(1)
    shop.story("text")


def prefix(shop):
    shop.dead(6)
    shop.serve(HTTP_PREFIX="/ops/sluice")
    shop.story("prefix")


def generations(shop):
    for words in (("allocate",), ("activate", "1"), ("allocate",), ("activate", "2")):
        shop.run("generation", *words, "--reason", "a deployment")
    for _ in range(3):
        shop.run("publish", "outage.a", "--data", "{}", "--generation", "1")
    shop.run("generation", "drain", "1", "--reason", "a deployment")
    shop.serve("--generation", "2")
    shop.story("generations")


def discard(shop):
    shop.dead(3)
    shop.serve()
    shop.story("discard")
    expect(shop.dead_left(), 3, "dead letters")


def hands(shop):
    shop.dead(3)
    shop.is_mended()
    shop.serve()
    shop.run("publish", "hands.later", "--data", "{}", "--after", "1h")
    shop.story("hands")
    actions = [record["action"] for record in shop.json("audit", "list")["records"] if record["surface"] == "console"]
    expect(actions, ["filter.save", "acknowledge", "replay", "resend", "run_now", "restore", "cancel", "reschedule"], "the audit")


def edit(shop):
    shop.dead(3)
    shop.is_mended()
    shop.serve(EDIT_REPLAY="true")
    shop.story("edit")
    records = shop.json("audit", "list", "--action", "edit")["records"]
    expect([(record["surface"], record["reason"]) for record in records], [("console", "a digit was wrong")], "the audit")


def pictures(shop):
    shop.dead(60)
    shop.run("dlq", "plan", "--filter", "type:outage.b")
    shop.run("generation", "allocate", "--reason", "a deployment")
    shop.run("publish", "pictures.later", "--data", "{}", "--after", "1h")
    shop.run("publish", "pictures.now", "--data", "{}")
    shop.serve(EDIT_REPLAY="true")
    shop.story("pictures")


def keyboard(shop):
    shop.dead(30)
    shop.is_mended()
    shop.serve()
    shop.story("keyboard")
    expect(shop.dead_left(), 0, "dead letters")


def steer(shop):
    shop.dead(30)
    shop.is_mended()
    shop.serve()
    shop.story("steer")


def search(shop):
    shop.serve(TRACE_URL="https://traces.example.com/{trace_id}")
    shop.run("publish", "order.first", "--data", '{"order":{"id":1}}')
    shop.run("publish", "order.second", "--data", '{"order":{"id":4711}}', "--traceparent", TRACEPARENT)
    shop.run("publish", "order.third", "--data", '{"order":{"id":47110}}')
    shop.story("search")
    actions = [record["action"] for record in shop.json("audit", "list")["records"] if record["surface"] == "console"]
    expect(actions, ["filter.remove", "filter.save"], "the audit")


def sinks(shop):
    shop.serve()
    shop.story("sinks")


def charts(shop):
    """A process writes its history when it ends."""
    shop.serve()
    for _ in range(3):
        shop.run("publish", "hello.world", "--data", "{}")
    until(lambda: shop.sql("select count(*) from core.outbox where status = 'delivered'") == ["3"])
    shop.stop()
    shop.serve()
    shop.story("charts")


def three_more_die(shop, line):
    """What a story asks for with the word `more`."""
    if line != "more":
        return None
    dead = shop.dead_left()
    shop.publish(3)
    shop.await_dead(dead + 3)
    return "done"


def arrivals(shop):
    shop.dead(3)
    shop.serve()
    shop.story("arrivals", lambda line: three_more_die(shop, line))


def acknowledge(shop):
    shop.dead(3)
    shop.serve()
    shop.story("acknowledge", lambda line: three_more_die(shop, line))


def slow(shop):
    """A session that holds the outbox makes every question wait."""
    shop.dead(6)
    shop.serve()
    with contextlib.ExitStack() as held:
        def answer(line):
            if line == "lock":
                held.enter_context(LockedOutbox(shop.store))
            if line == "unlock":
                held.close()
            return "done" if line in ("lock", "unlock") else None
        shop.story("slow", answer)


class LockedOutbox:
    def __init__(self, store):
        program = f"{os.environ['SLUICE_TEST_POSTGRES_BIN']}/psql"
        self.session = subprocess.Popen([program, store, "-XqAt"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.session.stdin.write("begin; lock table core.outbox in access exclusive mode; select 'held';\n")
        self.session.stdin.flush()
        expect(self.session.stdout.readline().strip(), "held", "the lock")

    def __exit__(self, *_):
        self.session.communicate("rollback;\n")


def stale(shop):
    shop.serve()
    place = shop.url.split("//")[1].strip("/")
    answers = {"stop": shop.stop, "start": lambda: shop.serve(listen=place),
               "hang": lambda: shop.daemon.send_signal(signal.SIGSTOP), "go on": lambda: shop.daemon.send_signal(signal.SIGCONT)}

    def answer(line):
        if line not in answers:
            return None
        answers[line]()
        return "done"
    shop.story("stale", answer)


def lists(shop):
    """Fifty dead letters that carry 250 kB each."""
    payload = json.dumps({"name": "zażółć", "n": 9007199254740993, "note": "x" * 250_000})
    shop.breaks()
    shop.start_worker()
    shop.publish_payloads([payload] * 50)
    shop.await_dead(50)
    shop.serve()
    shop.story("lists")


def details(shop):
    shop.dead(6)
    shop.is_mended()
    shop.run("publish", "later.one", "--data", "{}", "--after", "2h")
    shop.serve()
    shop.story("details")


STORIES = {story.__name__: story for story in
           (outage, canary, exceptions, viewer, survives, text, prefix, generations, discard, hands, pictures, keyboard,
            edit, steer, sinks, charts, arrivals, acknowledge, slow, stale, lists, details, groups, reload, search, wall)}


def main():
    sluice, worker, story, kind, folder = sys.argv[1:6]
    with Shop(sluice, worker, kind, Path(folder) / f"{story}.{kind}") as shop:
        STORIES[story](shop)


main()
