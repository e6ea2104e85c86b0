#!/usr/bin/env python3
"""chaos.py SLUICE PROGRAMS [flags]: a campaign against Sluice, in rounds. Each round has a fresh store, conditions and
faults that are drawn from the seed, and ends when everything that was published is delivered or has failed; a checker that
knows only files outside the database says whether the promises held. `./run chaos --help` tells the flags."""
import argparse
import concurrent.futures
import json
import random
import subprocess
import sys
import time
from pathlib import Path

from crew import Tally
from faults import FAULTS
from round import Round

CHECKER = Path(__file__).resolve().with_name("checker.py")
SHORTEST_ROUND = 8


def arguments():
    parser = argparse.ArgumentParser(prog="./run chaos", description="A fault campaign: real stores, real processes, a verdict.")
    parser.add_argument("sluice", help=argparse.SUPPRESS)
    parser.add_argument("programs", help=argparse.SUPPRESS, type=Path)
    parser.add_argument("--seed", type=int, help="repeats the conditions and the faults; default: a new one, which is printed")
    parser.add_argument("--minutes", type=float, default=5, help="how long; default 5")
    parser.add_argument("--faults", default="all", help="names between commas, all or none; default all: " + ", ".join(FAULTS))
    parser.add_argument("--store", choices=["sqlite", "postgres"], help="only one; default: both, in turns")
    parser.add_argument("--rate", type=int, default=2500, help="events per second that are published; default 2500")
    parser.add_argument("--sqlite-rate", type=int, help="the same for rounds on SQLite; default: as --rate")
    parser.add_argument("--round", type=float, default=45, help="seconds of load in each round; default 45")
    parser.add_argument("--rounds", type=int, help="no more than so many; default: as many as there is time for")
    parser.add_argument("--from-round", type=int, default=1, help="begins with this one: repeats a round of an earlier campaign")
    parser.add_argument("--delay", type=float, help="milliseconds between the processes and the server; default: drawn")
    parser.add_argument("--json", metavar="FILE", help="also writes the counts to a file")
    parser.add_argument("--keep", action="store_true", help="keeps the records of rounds that went well, too")
    parser.add_argument("--add-up", nargs="+", metavar="FILE", help="no campaign: adds up files that --json has written")
    return parser.parse_args()


class Campaign:
    def __init__(self, options):
        self.sluice, self.programs = options.sluice, options.programs
        self.seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 31)
        self.options, self.rate = options, options.rate
        self.faults = self._chosen(options.faults)
        self.tally, self.violations, self.events, self.rounds = Tally(), {}, Tally(), 0
        self.begun = time.monotonic()

    def _chosen(self, text):
        if text in ("all", "none"):
            return list(FAULTS) if text == "all" else []
        unknown = set(text.split(",")) - set(FAULTS)
        if unknown:
            sys.exit(f"chaos: unknown fault {', '.join(sorted(unknown))}; known: {', '.join(FAULTS)}")
        return text.split(",")

    def say(self, text):
        print(f"[{time.monotonic() - self.begun:6.1f} s] {text}", flush=True)

    def run(self):
        self.say(f"seed {self.seed}, faults: {', '.join(self.faults) or 'none'}")
        ends = self.begun + 60 * self.options.minutes
        stores = [self.options.store] if self.options.store else ["postgres", "sqlite"]
        # The checker works on one round while the next one runs.
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            checks = []
            while self.rounds < len(stores) or (time.monotonic() + SHORTEST_ROUND < ends and self.rounds != self.options.rounds):
                kind = stores[self.rounds % len(stores)]
                left = (ends - time.monotonic()) / max(1, len(stores) - self.rounds)
                checks.append(pool.submit(self._check, self._round(kind, left)))
            for check in checks:
                check.result()
        return self._verdict()

    def _round(self, kind, left):
        self.rounds += 1
        self.rate = self.options.sqlite_rate if kind == "sqlite" and self.options.sqlite_rate else self.options.rate
        # A third of a round is for its beginning and its end.
        seconds = max(SHORTEST_ROUND, min(self.options.round, left * 2 / 3))
        number = self.rounds + self.options.from_round - 1
        round_ = Round(self, number, kind, seconds, self.options.delay)
        self.say(f"round {number} on {kind}{', no faults' if not round_.faults else ''}: {round_.conditions.text()}")
        return round_.run()

    def _check(self, round_):
        done = subprocess.run([sys.executable, CHECKER, round_.folder], capture_output=True, text=True)
        if not done.stdout:
            sys.exit(f"the checker failed on {round_.folder}:\n{done.stderr}")
        found = json.loads(done.stdout)
        self.tally.merge(round_.tally.counts)
        for name, count in found["counts"].items():
            self.events.add(round_.kind, name, count)
        violations = found["violations"] | ({"round": len(round_.seen)} if round_.seen else {})
        for kind, count in violations.items():
            self.violations[kind] = self.violations.get(kind, 0) + count
        counts, tally = found["counts"], round_.tally
        self.say(f"round {round_.name} checked: {counts['events']} events, {counts['delivered']} delivered, {counts['failed']} failed, "
                 f"{tally.total('kills')} kills, {tally.total('server crashes')} crashes, {tally.total('network faults')} network "
                 f"faults: {'kept every promise' if not violations else 'VIOLATIONS'}")
        for line in found["shown"] + round_.seen:
            self.say("  " + line)
        if violations:
            self.say(f"  records: {round_.folder}")
        elif not self.options.keep:
            round_.clear()

    def _verdict(self):
        result = {"seed": self.seed, "rounds": self.rounds, "seconds": round(time.monotonic() - self.begun), "faults": self.tally.counts,
                  "events": self.events.counts, "violations": self.violations}
        if self.options.json:
            Path(self.options.json).write_text(json.dumps(result, indent=2) + "\n")
        report([result])
        return 1 if self.violations else 0


def report(results):
    """The figures of one campaign or of several."""
    tally, events, violations = Tally(), Tally(), {}
    for result in results:
        tally.merge(result["faults"])
        events.merge(result["events"])
        for kind, count in result["violations"].items():
            violations[kind] = violations.get(kind, 0) + count
    for store, counts in sorted(events.counts.items()):
        print(f"{store}: " + ", ".join(f"{name} {count}" for name, count in counts.items()))
    for kind in sorted(tally.counts):
        names = ", ".join(f"{name} {count:g}" for name, count in sorted(tally.counts[kind].items()))
        print(f"{kind}: {tally.total(kind):g} ({names})")
    total = sum(counts.get("events", 0) for counts in events.counts.values())
    seeds = ", ".join(str(result["seed"]) for result in results)
    rounds, seconds = sum(r["rounds"] for r in results), sum(r["seconds"] for r in results)
    print(f"{'FAIL' if violations else 'PASS'}: seed {seeds}, {rounds} rounds, {seconds} s, {total} events, {tally.total('kills'):g} "
          f"kills, {tally.total('server crashes'):g} server crashes, {tally.total('network faults'):g} network faults; "
          + (", ".join(f"{count} {kind}" for kind, count in violations.items()) or "0 lost, 0 doubled, 0 stranded, 0 out of order"))
    return 1 if violations else 0


def main():
    options = arguments()
    if options.add_up:
        sys.exit(report([json.loads(Path(path).read_text()) for path in options.add_up]))
    sys.exit(Campaign(options).run())


if __name__ == "__main__":
    main()
