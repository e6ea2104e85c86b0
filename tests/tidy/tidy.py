"""tidy.py [--shrink | --freeze]: style as a test. Include directions, lengths, sleeps, words, numbers on pages, migrations.

Each check is a module with a table of what is allowed. What was there before the check is listed in known.py and
known_words.txt; both lists can only shrink. `--shrink` takes out of known_words.txt what is no longer there.
`--freeze` adds new migrations to tests/golden/migrations.txt; `--freeze-again` takes all as they are, for the one case that
nobody has run them: a database that has would never get the change.
"""
import sys
from pathlib import Path

import counts
import includes
import known
import lengths
import migrations
import sleeps
import words
from tree import Tree

ROOT = Path(__file__).resolve().parents[2]


def problems(tree):
    yield from includes.problems(tree, known.INCLUDES)
    yield from lengths.problems(tree, known.LENGTHS)
    yield from sleeps.problems(tree, known.SLEEPS)
    yield from words.problems(tree, words.read_known(words.LIST.read_text()))
    yield from counts.problems(tree, counts.facts(ROOT))
    yield from migrations.problems(tree, migrations.read_frozen(migrations.LIST.read_text()))


def main(arguments):
    tree = Tree.of(ROOT)
    if arguments == ["--shrink"]:
        print(f"{words.shrink(tree)} fewer in {words.LISTED_IN}")
        return 0
    if arguments in (["--freeze"], ["--freeze-again"]):
        frozen = migrations.read_frozen(migrations.LIST.read_text())
        migrations.LIST.write_text(migrations.freeze(tree, frozen, again=arguments == ["--freeze-again"]))
        return 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    found = sorted(set(map(str, problems(tree))))
    print("\n".join(found) or f"{len(tree.texts)} files are tidy")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
