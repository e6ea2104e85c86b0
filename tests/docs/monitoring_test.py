"""What is said about metrics agrees with tests/golden/metric_names.txt: the reference page, the alert rules and the dashboard. Each
alert has its section in the how-to, and each section its alert."""
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
METRIC = re.compile(r"\b(?:sluice|process)_[a-z_]+\b")
GROUPING = re.compile(r"\b(?:by|on) \(([a-z_, ]+)\)")
MATCHERS = re.compile(r"\b((?:sluice|process)_[a-z_]+)\{([^}]*)\}")
# What Prometheus itself puts on every series.
SCRAPED = {"job", "instance", "le"}


def golden():
    """name → (kind, labels)"""
    rows = [line.split() for line in (ROOT / "tests/golden/metric_names.txt").read_text().splitlines()]
    return {row[0]: (row[1], row[2:]) for row in rows}


def family(name, known):
    for suffix in ("_bucket", "_sum", "_count"):
        if name.endswith(suffix) and known.get(name[: -len(suffix)], ("",))[0] == "histogram":
            return name[: -len(suffix)]
    return name


def check_expression(where, expression, known):
    used = [family(name, known) for name in METRIC.findall(expression)]
    for name in used:
        if name not in known:
            yield f"{where}: there is no metric {name}"
    labels = {label for name in used if name in known for label in known[name][1]} | SCRAPED
    for group in GROUPING.findall(expression):
        for label in group.split(", "):
            if label not in labels:
                yield f"{where}: none of its metrics has the label {label}"
    for name, matchers in MATCHERS.findall(expression):
        for label in re.findall(r"([a-z_]+)(?==)", matchers):
            if label not in set(known.get(family(name, known), ("", []))[1]) | SCRAPED:
                yield f"{where}: {name} has no label {label}"


def check_page(known):
    rows = re.findall(r"^\| `([a-z_]+)` \| (counter|gauge|histogram) \| (.*?) \| .+ \|$",
                      (ROOT / "docs/reference/metrics.md").read_text(), re.MULTILINE)
    listed = {name: (kind, re.findall(r"`([a-z_]+)`", labels)) for name, kind, labels in rows}
    for name in sorted(set(known) | set(listed)):
        if known.get(name) != listed.get(name):
            yield f"docs/reference/metrics.md: {name} is {known.get(name)}, the page says {listed.get(name)}"


def check_alerts(known):
    text = (ROOT / "packaging/prometheus/alerts.yml").read_text()
    page = (ROOT / "docs/how-to/monitor.md").read_text()
    sections = {heading.lower(): heading for heading in re.findall(r"^## (Sluice\w+)$", page, re.MULTILINE)}
    rules = re.split(r"^      - alert: ", text, flags=re.MULTILINE)[1:]
    for rule in rules:
        name = rule.split("\n", 1)[0]
        expression = re.search(r"^        expr: '(.*)'$", rule, re.MULTILINE)
        runbook = re.search(r"^          runbook_url: docs/how-to/monitor\.md#(\w+)$", rule, re.MULTILINE)
        if not expression or not re.search(r"^          severity: (info|warning|critical)$", rule, re.MULTILINE):
            yield f"{name}: a rule needs an expression and a severity"
            continue
        yield from check_expression(name, expression.group(1).replace("''", "'"), known)
        if not runbook or sections.pop(runbook.group(1), None) != name:
            yield f"{name}: docs/how-to/monitor.md has no section of that name, or the rule does not lead to it"
    for heading in sections.values():
        yield f"docs/how-to/monitor.md: {heading} is no alert"
    if len(rules) < 10:
        yield f"only {len(rules)} rules were found"


def check_dashboard(known):
    dashboard = json.loads((ROOT / "packaging/grafana/sluice.json").read_text())
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    for panel in panels:
        for target in panel["targets"]:
            yield from check_expression(f"dashboard, {panel['title']}", target["expr"], known)
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                if not re.search(rf"\b{label}\b", target["expr"]) and label not in SCRAPED:
                    yield f"dashboard, {panel['title']}: the legend names {label}, which the expression does not give"
    if len({panel["id"] for panel in dashboard["panels"]}) != len(dashboard["panels"]) or len(panels) < 10:
        yield "dashboard: ids are not unique, or panels are missing"


def main():
    known = golden()
    complaints = [*check_page(known), *check_alerts(known), *check_dashboard(known)]
    if complaints:
        sys.exit("\n".join(complaints))
    print(f"{len(known)} metrics, rules and dashboard agree")


main()
