"""check_regions.py: a code block that says `from=FILE#REGION` is that region of the file, word for word.

A region stands between the lines `// region: NAME` and `// end region`; its indentation is taken away.
"""
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```\w+ (?:[^\n]* )?from=(\S+)#(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def region(path, name):
    lines, kept = path.read_text().splitlines(), None
    for line in lines:
        if line.strip() == f"// region: {name}":
            kept = []
        elif line.strip() == "// end region" and kept is not None:
            return textwrap.dedent("\n".join(kept)) + "\n"
        elif kept is not None:
            kept.append(line)
    return None


def problems():
    count = 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]:
        for file, name, text in BLOCK.findall(page.read_text()):
            count += 1
            wanted = region(ROOT / file, name) if (ROOT / file).is_file() else None
            if wanted is None:
                yield f"{page.relative_to(ROOT)}: {file} has no region {name}"
            elif wanted != text:
                yield f"{page.relative_to(ROOT)}: the block is no longer region {name} of {file}, which is:\n{wanted}"
    if count == 0:
        yield "no page shows a region"


found = list(problems())
print("\n".join(found))
sys.exit(1 if found else 0)
