"""The peers: installed once from npm into a cache outside the repository, run against a fresh database."""
import json
import os
import shutil
from pathlib import Path

from driver.database import Database
from driver.programs import BENCH, output_of, say

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sluice" / "bench-peers"


def install():
    wanted = (BENCH / "peers" / "package.json").read_text()
    stamp = CACHE / "package.json"
    if not (CACHE / "node_modules").is_dir() or not stamp.exists() or stamp.read_text() != wanted:
        CACHE.mkdir(parents=True, exist_ok=True)
        say(f"installing the peers into {CACHE}")
        stamp.write_text(wanted)
        try:
            output_of(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=CACHE)
        except Exception:
            stamp.unlink()
            raise
    for script in (BENCH / "peers").glob("*.mjs"):
        shutil.copy(script, CACHE / script.name)


def run(script, *words):
    """The result line of one script of bench/peers."""
    with Database(migrate=False) as database:
        text = output_of(["node", script, *map(str, words)], cwd=CACHE, env={**os.environ, "DATABASE_URL": database.url})
    return json.loads(text.splitlines()[-1])


def graphile_drain(jobs):
    return run("graphile_drain.mjs", jobs)["value"]


def graphile_latency(jobs):
    """{"p50": ms, "p99": ms}"""
    return run("graphile_latency.mjs", jobs)["detail"]


def pgboss_drain(jobs):
    return run("pgboss_drain.mjs", jobs)["value"]
