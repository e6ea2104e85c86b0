"""public_headers_test.py INCLUDE: the public headers are few and need nothing but the standard library."""
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)', re.MULTILINE)
MOST = 10


def problems(root):
    public = sorted((root / "sluice").glob("*.hpp"))
    if not 0 < len(public) <= MOST:
        yield f"{len(public)} public headers; there may be {MOST}"
    for header in sorted((root / "sluice").rglob("*.hpp")):
        for bracket, name in INCLUDE.findall(header.read_text()):
            own = name.startswith("sluice/") and (root / name).is_file()
            standard = re.fullmatch(r"[a-z_]+", name) is not None  # those of C and of third parties have a dot
            if bracket != "<" or not (own or standard):
                yield f"{header.relative_to(root)} includes {name}"


found = list(problems(Path(sys.argv[1])))
print("\n".join(found))
sys.exit(1 if found else 0)
