"""run_example.py SOURCE PROGRAM SLUICE sqlite|postgres|partitions: an example must print what its header says, and end with 0."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fresh_database import FreshDatabase

LONGEST = 120  # lines of an example


def promised_output(source):
    lines = source.read_text().splitlines()
    if len(lines) > LONGEST:
        sys.exit(f"{source}: {len(lines)} lines; an example has at most {LONGEST}")
    promised = []
    for line in lines[lines.index("// Prints:") + 1:]:
        if not line.startswith("//   "):
            return promised
        promised.append(line[5:])


def run(source, program, store):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLUICE_", "DATABASE_URL"))}
    if store:
        environment["SLUICE_STORE"] = store
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"exit {done.returncode}\n{done.stdout}{done.stderr}")
    if done.stdout.splitlines() != promised_output(source):
        sys.exit(f"{source} promises another output than this:\n{done.stdout}")


def main():
    source, program, sluice, kind = Path(sys.argv[1]), *sys.argv[2:]
    if kind == "sqlite":
        run(source, program, None)
        return
    with FreshDatabase(sluice, f"example_{source.stem}_{kind}") as database:
        if kind == "partitions":
            subprocess.run([sluice, "ladder", "partition", "--store", database.url], check=True, capture_output=True)
        run(source, program, database.url)
        if kind == "partitions" and database.sql("select count(*) from core.partitions()") == "0":
            sys.exit("core.outbox has no partitions")


main()
