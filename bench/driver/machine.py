"""Where and with what a measurement was made."""
import datetime
import os
from pathlib import Path

from driver.database import BIN, SERVER
from driver.programs import ROOT, BenchFailed, output_of

DURABILITY = ("fsync", "synchronous_commit", "shared_buffers", "max_wal_size", "max_connections")


def described(scale):
    """(name, value) pairs; a part that cannot be asked says so."""
    return [
        ("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
        ("commit", commit()),
        ("processor", f"{os.cpu_count()} cores, {processor()}"),
        ("memory", f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"),
        ("PostgreSQL", said([f"{BIN}/postgres", "--version"]).removeprefix("postgres (PostgreSQL) ")),
        ("settings", settings()),
        ("Node.js", said(["node", "--version"])),
        ("size", ", ".join(f"{name.replace('_', ' ')} {sizes(value)}" for name, value in vars(scale).items())),
        ("seed", "pauses of `latency`: 42; ids and payload numbers are random and shape nothing"),
    ]


def sizes(value):
    return "/".join(f"{one:,}" for one in (value if isinstance(value, tuple) else (value,)))


def said(command):
    try:
        return output_of(command, cwd=ROOT).strip()
    except BenchFailed:
        return "unknown"


def commit():
    name = said(["git", "rev-parse", "--short", "HEAD"])
    return name + (" with changes" if said(["git", "status", "--porcelain", "--untracked-files=no"]) not in ("", "unknown") else "")


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def settings():
    query = f"select string_agg(name || ' = ' || current_setting(name), ', ') from unnest(array{list(DURABILITY)}) name"
    return said([f"{BIN}/psql", SERVER, "-AtqXc", query])
