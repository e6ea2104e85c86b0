"""Where a page says how many there are, it is as many."""
import json
import re
import runpy
import sys
from pathlib import Path

from tree import Problem, line_of

SMALL = ("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
         "nineteen").split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER = rf"(\d[\d,]*|(?:{'|'.join(TENS)})(?:-(?:{'|'.join(SMALL[:9])}))?|{'|'.join(sorted(SMALL, key=len, reverse=True))})"
# "these two commands" counts what stands there; from here on a number is taken for the count of all.
FEW = 5

VERSIONS = ("version on PostgreSQL", "version on SQLite")

# A word of the sentence, by which pages are passed over; the sentence; the facts that may be meant.
COUNTS_OF_ALL = [
    ("findings", rf"\b{NUMBER} (?:doctor )?findings\b", ("findings",)),
    ("commands", rf"\b{NUMBER} commands\b", ("commands",)),
    ("tools", rf"\b{NUMBER} (?:MCP )?tools\b", ("tools",)),
    ("metrics", rf"\b{NUMBER} metrics\b", ("metrics",)),
    ("migrations", rf"\b{NUMBER} migrations\b", VERSIONS),
]
COUNTS = [
    ("guards", rf"\b{NUMBER} guards\b", ("guards",)),
    ("states", rf"\b{NUMBER} states\b", ("states",)),
    ("headers", rf"\b{NUMBER} (?:public )?headers in `include/sluice/`", ("public headers",)),
    ("schema version", rf"\bschema versions?: {NUMBER} on\s+PostgreSQL", VERSIONS[:1]),
    ("schema version", rf"\bschema versions?: (?:\d+ on\s+PostgreSQL, )?{NUMBER} on\s+SQLite", VERSIONS[1:]),
    ("the schema is at", rf"\bthe schema is at version {NUMBER}\b", VERSIONS),
]
# The rows of a table in docs/reliability.md, and the lists of tests/mutants/table.py.
GUARDS = {"fences": "FENCES", "once": "ONCE", "the low mark": "MARK", "ordering keys": "KEYS", "patrol and checks": "PATROLS",
          "what is due": "DUE", "waking": "WAKING", "gates": "GATES", "ends": "ENDS", "the ladder": "LADDER",
          "traces": "TRACES", "partitions": "PARTITIONS", "brokers": "BROKERS", "the relay": "RELAYS",
          "attempts and history": "HISTORIES", "changes of one event": "OPERATOR_ACTIONS", "search": "SEARCHES",
          "withdrawals": "WITHDRAWALS"}
COUNTS += [(name, rf"^\| {name} \({NUMBER}\) \|", (f"guards: {name}",)) for name in GUARDS]


def value(text):
    text = text.lower().replace(",", "")
    if text.isdigit():
        return int(text)
    if text in SMALL:
        return SMALL.index(text) + 1
    tens, _, ones = text.partition("-")
    return (TENS.index(tens) + 2) * 10 + (SMALL.index(ones) + 1 if ones else 0)


def facts(root):
    """What the sources say."""
    root = Path(root)
    golden = root / "tests/golden"
    names = re.search(r"kFindingNames\{(.*?)\}", (root / "src/ops/doctor.hpp").read_text(), re.DOTALL)
    status = re.search(r"enum class Status \{(.*?)\}", (root / "src/core/status.hpp").read_text(), re.DOTALL)
    helps = [path.stem for path in (golden / "cli").glob("*.txt") if path.stem != "sluice"]
    return {
        "findings": names.group(1).count('"') // 2,
        "states": len(status.group(1).split(",")),
        "commands": sum(not any(other.startswith(name + "_") for other in helps) for name in helps),
        "tools": len(json.loads((golden / "mcp_tools.json").read_text())),
        "metrics": len((golden / "metric_names.txt").read_text().splitlines()),
        "public headers": len(list((root / "include/sluice").glob("*.hpp"))),
        "version on PostgreSQL": _version(root / "src/store/postgres"),
        "version on SQLite": _version(root / "src/store/sqlite"),
        **_guards(root / "tests/mutants/table.py"),
    }


def _version(store):
    return max(int(path.name[:4]) for path in (store / "sql/migration").glob("*.sql"))


def _guards(table):
    sys.path.insert(0, str(table.parent))
    module = runpy.run_path(str(table))
    counts = {f"guards: {name}": len(module[listed]) for name, listed in GUARDS.items()}
    return {"guards": len(module["MUTANTS"]), **counts}


def problems(tree, known):
    """`known`: the facts."""
    for path, text in tree.ending(".md"):
        for word, pattern, names in COUNTS_OF_ALL + COUNTS:
            for match in re.finditer(pattern, text, re.MULTILINE | re.IGNORECASE) if word in text.lower() else ():
                said = value(match.group(1))
                few = said < FEW and (word, pattern, names) in COUNTS_OF_ALL
                if not few and said not in (known[name] for name in names):
                    there = " or ".join(f"{name}: {known[name]}" for name in names)
                    words = " ".join(match.group().split())
                    yield Problem(path, line_of(text, match.start()), f"`{words}` is stale, {there}: correct the number")
