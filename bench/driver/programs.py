"""Programs that the benchmarks run, and where they are."""
import json
import os
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
ROOT = BENCH.parent
BUILD = Path(os.environ.get("SLUICE_BUILD_DIR", ROOT / "build"))
SLUICE = BUILD / "sluice"
SLUICE_BENCH = BUILD / "sluice_bench"
DELIVERY_TEST = BUILD / "tests" / "delivery_test"


class BenchFailed(Exception):
    """A benchmark that cannot run, and why."""


def say(text):
    print(f"    {text}", file=sys.stderr, flush=True)


def output_of(command, **kwargs):
    try:
        done = subprocess.run(command, capture_output=True, text=True, **kwargs)
    except FileNotFoundError as error:
        raise BenchFailed(f"{error.filename} is missing; ./run bench builds or installs it") from error
    if done.returncode != 0:
        raise BenchFailed(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def measured(name, **options):
    """The result line of one measurement by sluice_bench."""
    return json.loads(output_of([SLUICE_BENCH, name, *flags(options)]))


def flags(options):
    return [part for key, value in options.items() for part in (f"--{key}", str(value))]


class Companion:
    """A process of sluice_bench that works beside what is measured, from `ready` to the end of the block."""

    def __init__(self, name, **options):
        self._command = [SLUICE_BENCH, name, *flags(options)]

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not self._process.stdout.readline():
            raise BenchFailed(f"{' '.join(map(str, self._command))}: {self._process.stderr.read().strip()}")
        return self

    def __exit__(self, *_):
        output, _ = self._process.communicate(timeout=120)
        self.result = json.loads(output) if output else None


def clean_environment():
    """Settings of whoever measures must not be measured."""
    for name in list(os.environ):
        if name.startswith("SLUICE_") and not name.startswith(("SLUICE_TEST_", "SLUICE_BUILD_", "SLUICE_PG_")):
            del os.environ[name]
