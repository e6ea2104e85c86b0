#!/usr/bin/env python3
"""checker.py FOLDER: says whether what a round of the campaign left behind keeps Sluice's promises.

It knows nothing of Sluice. It reads what publishers and handlers wrote to files outside the database, and a dump of the
store that was taken when everything stood still:

  meta.json          handlers with their patterns, the maximum of attempts, what was done to the round
  publisher.*.log    what was to be published, and what became of it (see publisher.cpp)
  worker.*.log       when each handler met each event (see worker.cpp)
  outbox.csv         number, status, attempts, error class
  effects.csv        number, handler, how many rows its transactions left
  journal.csv        optional: every change of a status, as a trigger saw it: time, number, key, old and new status, old and
                     new claim_seq, attempts, length of failure_history; in the order of the time

Prints one line per violation, at most ten of a kind, and counts. Exit code 1 when there is one.
"""
import json
import sys
from collections import defaultdict
from pathlib import Path

EDGES = {("pending", "in_flight"), ("in_flight", "delivered"), ("in_flight", "pending"), ("in_flight", "failed"),
         ("failed", "pending"), ("delivered", "failed")}
TERMINAL = {"TerminalError"}
SHOWN = 10


class Published:
    """An event as its publisher knows it."""
    __slots__ = ("key", "type", "transaction", "intended", "acknowledged", "end")

    def __init__(self, key, type_, transaction, intended):
        self.key, self.type, self.transaction, self.intended = key, type_, transaction, intended
        self.acknowledged, self.end = None, "D"


class Findings:
    def __init__(self):
        self.counts = defaultdict(int)
        self.shown = []

    def add(self, kind, text):
        self.counts[kind] += 1
        if self.counts[kind] <= SHOWN:
            self.shown.append(f"{kind}: {text}")


def lines_of(folder, pattern):
    for path in sorted(Path(folder).glob(pattern)):
        with open(path) as lines:
            for line in lines:
                # A writer that was killed may leave a line without an end.
                if line.endswith("\n"):
                    yield line.rstrip("\n")


def read_published(folder):
    events, transactions = {}, {}
    for line in lines_of(folder, "publisher.*.log"):
        mark, transaction, time, *runs = line.split(" ")
        if mark == "I":
            mine = transactions[transaction] = []
            for run in runs:
                first, count, key, type_ = run.split(":")
                for number in range(int(first), int(first) + int(count)):
                    events[number] = Published(None if key == "-" else key, type_, transaction, int(time))
                    mine.append(number)
            continue
        for number in transactions[transaction]:
            events[number].end = mark
            if mark == "A":
                events[number].acknowledged = int(time)
    return events, transactions


def read_meetings(folder):
    """The first start of each handler with each event, all starts in order, and all runs that have an end."""
    first, starts, runs, begun = {}, 0, [], {}
    for path in sorted(Path(folder).glob("worker.*.log")):
        begun.clear()
        for line in lines_of(folder, path.name):
            mark, time, handler, number = line.split(" ")
            what, time = (handler, int(number)), int(time)
            if mark == "S":
                starts += 1
                begun[what] = time
                if what not in first or time < first[what]:
                    first[what] = time
            elif what in begun:
                runs.append((begun.pop(what), time, what))
    return first, starts, runs


def read_rows(folder, name):
    path = Path(folder) / name
    return [line.split(",") for line in path.read_text().splitlines()] if path.exists() else None


def wants(patterns, type_):
    return any(p == "*" or p == type_ or (p.endswith("*") and type_.startswith(p[:-1])) for p in patterns)


class Round:
    def __init__(self, folder):
        self.meta = json.loads((Path(folder) / "meta.json").read_text())
        self.events, self.transactions = read_published(folder)
        self.first, self.starts, self.runs = read_meetings(folder)
        self.rows = {int(number): (status, int(attempts), error)
                     for number, status, attempts, error in read_rows(folder, "outbox.csv")}
        self.effects = {(handler, int(number)): int(count) for number, handler, count in read_rows(folder, "effects.csv")}
        self.journal = read_rows(folder, "journal.csv")
        self.found = Findings()
        self._handlers_of = {}

    def handlers_of(self, type_):
        if type_ not in self._handlers_of:
            self._handlers_of[type_] = [name for name, handler in self.meta["handlers"].items()
                                        if wants(handler["patterns"], type_)]
        return self._handlers_of[type_]

    def told(self, number):
        event = self.events.get(number)
        return f"event {number}" + (f" ({event.type}, key {event.key}, transaction {event.transaction})" if event else "")

    def check(self):
        self.check_ends()
        self.check_rollbacks()
        self.check_effects()
        self.check_attempts()
        self.check_order()
        self.check_overlaps()
        self.check_journal()
        return self.found

    # 1 and 8: what was acknowledged ends delivered or failed, and nothing else is left over either.
    def check_ends(self):
        kept = self.meta.get("retention", False)
        for number, event in self.events.items():
            row = self.rows.get(number)
            if row is None:
                if event.end == "A" and not (kept and self.was_met(number, event)):
                    self.found.add("lost", f"{self.told(number)} was acknowledged and is not in the store")
            elif row[0] in ("pending", "in_flight"):
                self.found.add("stranded", f"{self.told(number)} is {row[0]}")
            elif row[0] == "delivered":
                for handler in self.handlers_of(event.type):
                    if (handler, number) not in self.first:
                        self.found.add("skipped", f"{self.told(number)} is delivered and never met {handler}")

    # Retention has taken the row: that somebody had it is all that can be known.
    def was_met(self, number, event):
        return any((handler, number) in self.first for handler in self.handlers_of(event.type))

    # 1: nothing of a rolled-back transaction is seen by anybody.
    def check_rollbacks(self):
        seen = set(self.rows) | {number for _, number in self.first} | {number for _, number in self.effects}
        for number in seen:
            event = self.events.get(number)
            if event is None:
                self.found.add("unknown", f"event {number} was never published")
            elif event.end == "R":
                self.found.add("rolled back", f"{self.told(number)} was rolled back and is there")

    # 2: one effect where it shares the transaction with the record of it; exactly one where it was delivered.
    def check_effects(self):
        once = {name for name, handler in self.meta["handlers"].items() if handler["kind"] in ("effect", "effects")}
        for (handler, number), count in self.effects.items():
            if count > 1:
                self.found.add("doubled", f"{self.told(number)} has {count} effects of {handler}")
            if (handler, number) not in self.first:
                self.found.add("unmet", f"{self.told(number)} has an effect of {handler}, which never started")
        for number, (status, _, _) in self.rows.items():
            event = self.events.get(number)
            if event is None or status != "delivered":
                continue
            for handler in self.handlers_of(event.type):
                if handler in once and (handler, number) not in self.effects:
                    self.found.add("no effect", f"{self.told(number)} is delivered without the effect of {handler}")

    # 3: never more attempts than the maximum; failed is what met it, or a terminal error.
    def check_attempts(self):
        most = self.meta["attempts"]
        for number, (status, attempts, error) in self.rows.items():
            if attempts > most:
                self.found.add("attempts", f"{self.told(number)} has {attempts} attempts of {most}")
            if status == "failed" and attempts < most and error not in TERMINAL:
                self.found.add("early failure", f"{self.told(number)} failed with {error} after {attempts} attempts of {most}")

    # 7: an event that was acknowledged before another one of its key was begun meets each handler first; so do the
    # events of one transaction, in its order. Publishers that overlap may be in either order.
    def check_order(self):
        keys = defaultdict(list)
        for (handler, number), time in self.first.items():
            event = self.events.get(number)
            if event is not None and event.key is not None:
                keys[handler, event.key].append((time, number, event))
        for (handler, _), met in keys.items():
            met.sort(key=lambda each: each[0])
            latest, who, last = -1, None, {}
            for _, number, event in met:
                if event.acknowledged is not None and event.acknowledged < latest:
                    self.found.add("order", f"{self.told(number)} met {handler} after {self.told(who)}, which was begun later")
                if event.intended > latest:
                    latest, who = event.intended, number
                if last.get(event.transaction, -1) > number:
                    self.found.add("order", f"{self.told(number)} met {handler} after {last[event.transaction]} of its transaction")
                last[event.transaction] = max(number, last.get(event.transaction, -1))

    # 7: never two of one key at once. A worker that lost its claim may still be running: this is for rounds without faults.
    def check_overlaps(self):
        if not self.meta.get("strict", False):
            return
        keys = defaultdict(list)
        for begin, end, (handler, number) in self.runs:
            event = self.events.get(number)
            if event is not None and event.key is not None:
                keys[event.key].append((begin, end, number, handler))
        for key, runs in keys.items():
            runs.sort()
            for (_, end, number, handler), (begin, _, other, second) in zip(runs, runs[1:]):
                if begin < end and other != number:
                    self.found.add("overlap", f"{self.told(other)} met {second} while {handler} had {number} of key {key}")

    # 3 to 7 as the store itself changed: the edges, the claim's number, the history, two of one key in flight.
    def check_journal(self):
        flying = {}
        grown = {}
        for _, number, key, old, new, claim_before, claim_after, attempts, history in self.journal or ():
            number, before, after = int(number), int(claim_before), int(claim_after)
            if (old, new) not in EDGES:
                self.found.add("edge", f"{self.told(number)} went from {old} to {new}")
            if after != before + (new == "in_flight"):
                self.found.add("claim number", f"{self.told(number)} went from {old} to {new}: claim_seq {before} to {after}")
            if int(attempts) > self.meta["attempts"]:
                self.found.add("attempts", f"{self.told(number)} had {attempts} attempts of {self.meta['attempts']}")
            if int(history) < grown.get(number, 0):
                self.found.add("history", f"{self.told(number)} lost entries of failure_history: {grown[number]} to {history}")
            grown[number] = int(history)
            if not key:
                continue
            if new == "in_flight":
                if flying.get(key, number) != number:
                    self.found.add("two in flight", f"{self.told(number)} was claimed while {flying[key]} of its key was in flight")
                flying[key] = number
            elif flying.get(key) == number:
                del flying[key]

    def counts(self):
        ends = defaultdict(int)
        for event in self.events.values():
            ends[event.end] += 1
        status = defaultdict(int)
        for row in self.rows.values():
            status[row[0]] += 1
        keyed = sum(1 for event in self.events.values() if event.key is not None)
        return {"events": len(self.events), "acknowledged": ends["A"], "rolled_back": ends["R"], "in_doubt": ends["D"],
                "keyed": keyed, "delivered": status["delivered"], "failed": status["failed"], "starts": self.starts,
                "effects": sum(self.effects.values()), "transitions": len(self.journal or ())}


def verdict(folder):
    """(counts, violations by kind, lines to show)"""
    checked = Round(folder)
    found = checked.check()
    return checked.counts(), dict(found.counts), found.shown


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: checker.py FOLDER")
    counts, violations, shown = verdict(sys.argv[1])
    print(json.dumps({"counts": counts, "violations": violations, "shown": shown}))
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
