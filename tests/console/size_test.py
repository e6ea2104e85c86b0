"""size_test.py PACKED: the scripts of the console are at most 120 kB, compressed."""
import sys
from pathlib import Path

MOST = 120_000
sizes = {file.name: file.stat().st_size for file in Path(sys.argv[1]).rglob("*.js.gz")}
if not sizes:
    sys.exit(f"no scripts in {sys.argv[1]}")
if sum(sizes.values()) > MOST:
    sys.exit(f"{sum(sizes.values())} bytes of scripts, at most {MOST}: {sizes}")
print(f"{sum(sizes.values())} bytes of scripts")
