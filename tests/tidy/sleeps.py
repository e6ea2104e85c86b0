"""Tests wait for what happens, not for time to pass."""
import re

from tree import Problem, is_test, line_of, unknown

LISTED_IN = "tests/tidy/known.py"
SLEEP = re.compile(r"\b(?:sleep_for|sleep_until|usleep|nanosleep|pg_sleep)\b|\b(?:time|asyncio)\.sleep\(|(?<![\w.:])sleep\("
                   r"|\bsetTimeout\b|\bwaitForTimeout\b|^[ \t]*sleep [\d.$]", re.MULTILINE)
TODO = "call step(), pass a clock, or wait for a signal; if another process's state has to be polled, list it with the reason"


def problems(tree, known):
    """`known`: how many sleeps a file has, and why."""
    found = {}
    for path, text in tree.texts.items():
        if is_test(path) and not path.endswith(".md") and ("sleep" in text or "Timeout" in text):
            for match in SLEEP.finditer(text):
                problem = Problem(path, line_of(text, match.start()), f"`{match.group().strip()}` in a test: {TODO}")
                found.setdefault(path, []).append(problem)
    yield from unknown(found, {path: count for path, (count, _) in known.items()}, LISTED_IN)
