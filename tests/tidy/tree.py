"""The files that are checked, and what the checks share: problems, and lists of known ones that can only shrink."""
import os
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("bench", "cmake", "console", "demo", "docs", "examples", "include", "packaging", "src", "tests")
# What is generated, or data, or names bad samples on purpose.
SKIPPED = ("bench/results", "console/bundle", "tests/golden", "tests/tidy")
PRUNED = {"build", "node_modules", "__pycache__"}
CODE = (".cpp", ".hpp")
TEXT = CODE + (".sql", ".py", ".mjs", ".ts", ".svelte", ".md", ".cmake", ".yml", ".html", ".css")


@dataclass(frozen=True)
class Problem:
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


class Tree:
    """Texts by path; a path is relative to the root of the repository, with slashes."""

    def __init__(self, texts):
        self.texts = texts

    @classmethod
    def of(cls, root):
        paths = [path.name for path in sorted(Path(root).glob("*.md"))]
        for folder in FOLDERS:
            paths += _paths(root, folder)
        return cls({path: _read(root, path) for path in paths if not path.startswith(SKIPPED)})

    def ending(self, *suffixes):
        return ((path, text) for path, text in self.texts.items() if path.endswith(suffixes))


def _paths(root, folder):
    for here, folders, names in os.walk(os.path.join(root, folder)):
        folders[:] = sorted(name for name in folders if name not in PRUNED)
        place = os.path.relpath(here, root)
        for name in sorted(names):
            if name.endswith(TEXT) or "." not in name and os.access(os.path.join(here, name), os.X_OK):
                yield f"{place}/{name}"


def _read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def is_test(path):
    """Unit tests and their fixtures stand beside the source."""
    return path.startswith("tests/") or Path(path).stem.endswith(("_test", "_fixture"))


def unknown(found, known, listed_in):
    """The problems that no list knows, and the entries that no problem needs any more.

    `found` has the problems by key, `known` how many of them each key may have.
    """
    for key, problems in found.items():
        if len(problems) > known.get(key, 0):
            yield from problems
    for key, count in known.items():
        here = len(found.get(key, ()))
        if here < count:
            parts = (key,) if isinstance(key, str) else key
            todo = f"lower it to {here}" if here else "delete the entry"
            yield Problem(listed_in, line_in_list(listed_in, parts),
                          f"`{', '.join(parts)}` is listed with {count} and has {here}: {todo}, so that the list only shrinks")


def line_in_list(listed_in, parts):
    """Where a list has the entry; both lists stand beside this file."""
    lines = Path(__file__).with_name(Path(listed_in).name).read_text().splitlines()
    return next((number for number, line in enumerate(lines, 1) if all(part in line for part in parts)), 1)
