"""Drain rate, claim latency and publish rate against what may grow: flat is good."""
import json
import subprocess
import sys

from driver import charts, machine
from driver.figures import shown
from driver.growth_sweeps import FULL, QUICK, SWEEPS, UNITS
from driver.programs import BenchFailed, say


def points_of(name, scale, show):
    """The rows of one sweep: each value, and what it is of the value at the first point."""
    rows, first = [], {}
    for x, figures in SWEEPS[name].measure(scale):
        for series, value in figures.items():
            first.setdefault(series, value)
            rows.append({"bench": "growth", "sweep": name, "x": x, "series": series, "value": shown(value, UNITS[series]),
                         "unit": UNITS[series], "of_first": round(value / first[series], 2) if first[series] else None})
            show(rows[-1])
    return rows


def heading():
    return f"{'sweep':14} {'x':>10}  {'series':20} {'value':>10} {'unit':10} {'of first':>8}"


def line(row):
    of_first = "" if row["of_first"] is None else f"{row['of_first']:.2f}"
    return f"{row['sweep']:14} {row['x']:>10,}  {row['series']:20} {row['value']:>10,} {row['unit']:10} {of_first:>8}"


def drawing(name, rows):
    """One chart for each unit of a sweep: file name → chart."""
    labels = [f"{x:,}" for x in dict.fromkeys(row["x"] for row in rows)]
    for unit in dict.fromkeys(row["unit"] for row in rows):
        series = {}
        for row in rows:
            if row["unit"] == unit:
                series.setdefault(row["series"], []).append(row["value"])
        yield (f"growth-{name}-{unit.replace('/s', '')}.svg",
               charts.Chart(f"{', '.join(series)} against {SWEEPS[name].axis}", SWEEPS[name].axis, unit, labels, series))


def page(rows, facts, drawn):
    """bench/results/growth.md"""
    lines = ["# Growth", "", "Each value, and what it is of the value at the first point of its sweep.", ""]
    lines += [f"![{title}]({file})" for file, title in drawn]
    lines += ["", "| sweep | x | series | value | unit | of first |", "|---|--:|---|--:|---|--:|"]
    lines += [f"| {row['sweep']} | {row['x']:,} | {row['series']} | {row['value']:,} | {row['unit']} | {row['of_first']} |" for row in rows]
    lines += ["", "| machine | |", "|---|---|"] + [f"| {name} | {value} |" for name, value in facts]
    return "\n".join(lines) + "\n"


def main(names, given, results):
    scale = QUICK if given.quick else FULL
    facts = machine.described(scale)
    for name, value in facts:
        say(f"{name}: {value}")
    if not given.json:
        print(heading())
    rows, drawn, failed = [], [], False
    for name in names or SWEEPS:
        try:
            found = points_of(name, scale, lambda row: print(json.dumps(row) if given.json else line(row), flush=True))
        except (BenchFailed, OSError, subprocess.SubprocessError) as error:
            failed = True
            print(f"growth {name}: could not run: {error}", file=sys.stderr, flush=True)
            continue
        rows += found
        if given.charts:
            drawn += charts.written(results, drawing(name, found))
    if given.write:
        (results / "growth.md").write_text(page(rows, facts, drawn))
    return 1 if failed else 0
