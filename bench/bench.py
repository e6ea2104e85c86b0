"""./run bench: measures, prints value, ratio and goal, and writes the results down where asked.

Each figure that counts is a ratio: both sides run in turn, on the same server, in the same run.
"""
import argparse
import json
import subprocess
import sys

from driver import charts, growth, machine, table
from driver.growth_sweeps import SWEEPS
from driver.programs import BENCH, BenchFailed, clean_environment, say
from driver.registry import BENCHES, chosen
from driver.scale import scale

RESULTS = BENCH / "results"


def arguments():
    width = max(map(len, BENCHES))
    listed = [f"  {name:{width}}  {bench.summary}{' (peer or limit)' if bench.peer else ''}" for name, bench in BENCHES.items()]
    parser = argparse.ArgumentParser(
        prog="./run bench", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Benchmarks; without a name, all of Sluice's own.",
        epilog="\n".join(["benchmarks:", *listed, f"  {'growth':{width}}  {growth.__doc__}",
                          f"  {'':{width}}  growth [SWEEP…]: {', '.join(SWEEPS)}", "",
                          "The exit code is 1 when a benchmark could not run; a goal that is missed is printed, and is no failure."]))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="one small round each: shows that they run, not how fast")
    parser.add_argument("--json", action="store_true", help="one object per line")
    parser.add_argument("--peers", action="store_true", help="also the peers and the raw limits, as rows of their own")
    parser.add_argument("--no-npm", action="store_true", help="leave out what needs the peers from npm")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds per side; default 3, quick 1")
    parser.add_argument("--write", action="store_true", help="write bench/results/latest.md (growth: growth.md)")
    parser.add_argument("--charts", action="store_true", help="draw SVG charts in bench/results")
    given = parser.parse_intermixed_args()
    growing = given.names[:1] == ["growth"]
    for name in given.names[growing:]:
        known = SWEEPS if growing else BENCHES
        if name not in known:
            parser.error(f"unknown {'sweep' if growing else 'benchmark'} {name}; there are: {', '.join(known)}")
    return given


def run(names, wanted, show):
    """(rows, failures) of the benchmarks, each row shown as soon as it is known."""
    rows, failures = [], []
    for name in names:
        try:
            for figure in BENCHES[name].measure(wanted):
                rows.append(figure.as_row())
                show(rows[-1])
        except (BenchFailed, OSError, subprocess.SubprocessError) as error:
            failures.append((name, error))
            print(f"{name}: could not run: {error}", file=sys.stderr, flush=True)
    return rows, failures


def main():
    given = arguments()
    clean_environment()
    if given.names[:1] == ["growth"]:
        return growth.main(given.names[1:], given, RESULTS)
    wanted = scale(given.quick, given.rounds)
    facts = machine.described(wanted)
    for name, value in facts:
        say(f"{name}: {value}")
    if not given.json:
        print(table.heading())
    rows, failures = run(chosen(given.names, given.peers, not given.no_npm), wanted,
                         lambda row: print(json.dumps(row) if given.json else table.line(row), flush=True))
    drawn = charts.draw_goals(rows, RESULTS) if given.charts else []
    if given.write:
        (RESULTS / "latest.md").write_text(table.page(rows, facts, failures, drawn))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
