"""Migrations never change once landed: databases have run them. tests/golden/migrations.txt has a digest of each."""
import hashlib
import re
from pathlib import Path

from tree import Problem

LIST = Path(__file__).parents[1] / "golden/migrations.txt"
LISTED_IN = "tests/golden/migrations.txt"
HEAD = """\
# SHA-256 of each migration that has landed. One that is listed never changes: add a new one. After that
# `python3 tests/tidy/tidy.py --freeze` adds its line here.
"""
MIGRATION = re.compile(r"src/store/\w+/sql/migration/\d{4}_\w+\.sql")


def digests(tree):
    return {path: hashlib.sha256(text.encode()).hexdigest() for path, text in tree.ending(".sql") if MIGRATION.fullmatch(path)}


def read_frozen(text):
    lines = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {path: digest for digest, path in lines}


def problems(tree, frozen):
    """`frozen`: digests by path."""
    found = digests(tree)
    for path, digest in found.items():
        if path not in frozen:
            yield Problem(path, 1, "is new: freeze it with `python3 tests/tidy/tidy.py --freeze` when it is to land")
        elif digest != frozen[path]:
            yield Problem(path, 1, "has changed, but migrations never change once landed: add a new one, and put this one back")
    for path in frozen.keys() - found.keys():
        yield Problem(path, 1, "is gone, but migrations never change once landed: put it back")


def freeze(tree, frozen, again=False):
    """The text of the list with the new ones added; with `again`, of everything as it stands now."""
    found = digests(tree)
    kept = found if again else {**found, **frozen}
    return HEAD + "".join(f"{digest}  {path}\n" for path, digest in sorted(kept.items()))
