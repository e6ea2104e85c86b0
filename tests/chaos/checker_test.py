#!/usr/bin/env python3
"""The checker finds what it is there for: every kind of violation is planted into the records of a round that is in order."""
import copy
import json
import re
import sys
import tempfile
from pathlib import Path

import checker

# A round as it is recorded: transactions 1 to 6, two handlers, one of them with effects.
GOOD = {
    "meta.json": {"handlers": {"books.effect": {"kind": "effect", "patterns": ["x.*"]},
                               "mail.plain": {"kind": "plain", "patterns": ["*"]}}, "attempts": 5, "strict": True},
    "publisher.1.log": [
        "I 1 100 1:2:-:x.one", "A 1 110",
        "I 2 120 3:2:k:x.one", "A 2 130",     # two of one key in one transaction
        "I 3 140 5:1:k:y.one", "A 3 150",     # and one that was begun after their commit
        "I 4 160 6:1:-:x.one", "R 4 170",     # rolled back
        "I 5 180 7:1:-:x.throw", "A 5 190",   # fails for good
        "I 6 200 8:1:-:x.one", "D 6 210",     # in doubt, and not there
        "I 7 220 9:1:-:y.never", "D 7 230", "A 7 240",  # in doubt, repeated; fails after five attempts
        "I 8 250 10:1:-:x.one",               # killed
    ],
    "worker.1.log": [
        "S 300 books.effect 1", "E 301 books.effect 1", "S 302 mail.plain 1", "E 303 mail.plain 1",
        "S 304 books.effect 2", "E 305 books.effect 2", "S 306 mail.plain 2", "E 307 mail.plain 2",
        "S 310 books.effect 3", "E 312 books.effect 3", "S 314 mail.plain 3", "E 316 mail.plain 3",
        "S 340 mail.plain 5", "E 342 mail.plain 5", "S 350 books.effect 7", "E 351 books.effect 7", "S 360 mail.plain 9",
    ],
    "worker.2.log": ["S 320 books.effect 4", "E 322 books.effect 4", "S 324 mail.plain 4", "E 326 mail.plain 4",
                     "S 361 mail.plain 7", "E 362 mail.plain 7"],
    "outbox.csv": ["1,delivered,0,", "2,delivered,1,NowAndThenError", "3,delivered,0,", "4,delivered,0,", "5,delivered,0,",
                   "7,failed,1,TerminalError", "9,failed,5,NeverError"],
    "effects.csv": ["1,books.effect,1", "2,books.effect,1", "3,books.effect,1", "4,books.effect,1"],
    "journal.csv": ["1.0,3,k,pending,in_flight,0,1,0,0", "2.0,3,k,in_flight,delivered,1,1,0,0",
                    "2.1,4,k,pending,in_flight,0,1,0,0", "2.2,4,k,in_flight,pending,1,1,1,0",
                    "2.3,4,k,pending,in_flight,1,2,1,0", "2.4,4,k,in_flight,delivered,2,2,1,0",
                    "3.0,7,,pending,in_flight,0,1,0,0", "3.1,7,,in_flight,failed,1,1,1,0", "3.2,7,,failed,pending,1,1,0,1",
                    "3.3,7,,pending,in_flight,1,2,0,1", "3.4,7,,in_flight,failed,2,2,1,1"],
}


def without(name, *lines):
    return lambda files: [files[name].remove(line) for line in lines]


def with_(name, *lines):
    return lambda files: files[name].extend(lines)


def instead(name, old, new):
    def change(files):
        files[name][files[name].index(old)] = new
    return change


def retention_took(number):
    """Retention may take a row; it may not take one that nobody has met."""
    def change(files):
        files["meta.json"]["retention"] = True
        files["outbox.csv"] = [line for line in files["outbox.csv"] if not line.startswith(f"{number},")]
        for name in ("worker.1.log", "worker.2.log"):
            files[name] = [line for line in files[name] if not line.endswith(f" {number}")]
        files["effects.csv"] = [line for line in files["effects.csv"] if not line.startswith(f"{number},")]
    return change


# What is planted, and the kind that must be found, alone.
PLANTED = [
    ("an acknowledged event is gone", "lost", lambda files: (without("outbox.csv", "5,delivered,0,")(files))),
    ("one that was repeated is gone", "lost", without("outbox.csv", "9,failed,5,NeverError")),
    ("retention took one that nobody has met", "lost", retention_took(2)),
    ("an event is still pending", "stranded", instead("outbox.csv", "7,failed,1,TerminalError", "7,pending,1,TerminalError")),
    ("an event is still in flight", "stranded", instead("outbox.csv", "9,failed,5,NeverError", "9,in_flight,4,NeverError")),
    ("one in doubt was committed and is pending", "stranded", with_("outbox.csv", "8,pending,0,")),
    ("one of a killed publisher is pending", "stranded", with_("outbox.csv", "10,pending,0,")),
    ("delivered without one of its handlers", "skipped", without("worker.1.log", "S 340 mail.plain 5", "E 342 mail.plain 5")),
    ("a rolled-back event is in the store", "rolled back", with_("outbox.csv", "6,failed,5,NeverError")),
    ("a handler met a rolled-back event", "rolled back", with_("worker.2.log", "S 400 mail.plain 6")),
    ("an event that nobody published", "unknown", with_("outbox.csv", "77,failed,5,NeverError")),
    ("a handler met an event that nobody published", "unknown", with_("worker.2.log", "S 400 mail.plain 77")),
    ("two effects of one event", "doubled", instead("effects.csv", "2,books.effect,1", "2,books.effect,2")),
    ("an effect of a handler that never started", "unmet", with_("effects.csv", "5,books.effect,1")),
    ("delivered without its effect", "no effect", without("effects.csv", "1,books.effect,1")),
    ("more attempts than the maximum", "attempts", instead("outbox.csv", "9,failed,5,NeverError", "9,failed,6,NeverError")),
    ("more attempts on the way", "attempts", with_("journal.csv", "4.0,9,,in_flight,pending,9,9,6,0")),
    ("failed before its last attempt", "early failure", instead("outbox.csv", "9,failed,5,NeverError", "9,failed,4,NeverError")),
    ("an older one of its key came later", "order", lambda files: (
        instead("worker.1.log", "S 340 mail.plain 5", "S 308 mail.plain 5")(files),
        instead("worker.1.log", "E 342 mail.plain 5", "E 309 mail.plain 5")(files))),
    ("the order of one transaction is lost", "order", lambda files: (
        instead("worker.2.log", "S 320 books.effect 4", "S 308 books.effect 4")(files),
        instead("worker.2.log", "E 322 books.effect 4", "E 309 books.effect 4")(files))),
    ("two of one key at once, by the handlers' records", "overlap", instead("worker.1.log", "E 316 mail.plain 3", "E 321 mail.plain 3")),
    ("two of one key at once, by the journal", "two in flight", instead(
        "journal.csv", "2.0,3,k,in_flight,delivered,1,1,0,0", "2.15,3,k,in_flight,delivered,1,1,0,0")),
    ("a way between two states that does not exist", "edge", with_("journal.csv", "4.0,9,,pending,delivered,1,1,0,0")),
    ("a claim without a new number", "claim number", with_("journal.csv", "4.0,9,,pending,in_flight,1,1,0,0")),
    ("a settle that changes the claim's number", "claim number", with_("journal.csv", "4.0,9,,in_flight,delivered,1,2,0,0")),
    ("a history that was shortened", "history", with_("journal.csv", "4.0,7,,failed,pending,2,2,0,0")),
]


def found_in(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            if name == "journal.csv":
                content = sorted(content, key=lambda line: float(line.split(",")[0]))
            text = json.dumps(content) if name == "meta.json" else "".join(line + "\n" for line in content)
            (Path(folder) / name).write_text(text)
        (Path(folder) / "worker.3.log").write_text("S 363 mail.pl")  # the disk of this one was full
        return checker.verdict(folder)


def main():
    counts, violations, shown = found_in(GOOD)
    if violations:
        sys.exit(f"a round in order is blamed: {shown}")
    wanted = {"events": 10, "acknowledged": 7, "rolled_back": 1, "in_doubt": 2, "delivered": 5, "failed": 2, "effects": 4}
    if {name: counts[name] for name in wanted} != wanted:
        sys.exit(f"miscounted: {counts}")
    for what, kind, plant in PLANTED:
        files = copy.deepcopy(GOOD)
        plant(files)
        _, violations, shown = found_in(files)
        if set(violations) != {kind}:
            sys.exit(f"planted: {what}; expected {kind}, found {shown or 'nothing'}")
        print(f"found: {what}")
    kinds = set(re.findall(r'found\.add\("([^"]+)"', Path(checker.__file__).read_text()))
    unplanted = kinds - {kind for _, kind, _ in PLANTED}
    if unplanted:
        sys.exit(f"never planted: {unplanted}")
    # Where claims may be lost a late worker overlaps with its successor, and that is in order.
    files = copy.deepcopy(GOOD)
    files["meta.json"]["strict"] = False
    instead("worker.1.log", "E 316 mail.plain 3", "E 321 mail.plain 3")(files)
    if found_in(files)[1]:
        sys.exit("an overlap is blamed although claims were lost")
    print(f"{len(PLANTED)} violations of {len(kinds)} kinds planted and found")


if __name__ == "__main__":
    main()
