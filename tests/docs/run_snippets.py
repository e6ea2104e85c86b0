"""Runs the commands of the documentation, file by file, as a reader would.

Fenced blocks by their info string:
  sh            run in order by one bash per file, from the repository root, with an empty home directory
  sh serve      the daemon: started in the background before the next block, stopped at the end
  sh postgres   like sh, with DATABASE_URL naming a fresh database
  sh fails=N    must exit with N
  sql           run in the same fresh database, migrated
Anything else is not run.
"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Failed(Exception):
    pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def psql(url, *arguments, text=None):
    done = subprocess.run([f"{os.environ['SLUICE_TEST_POSTGRES_BIN']}/psql", url, "-XqAt", "-v", "ON_ERROR_STOP=1", *arguments],
                          input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"psql: {done.stderr.strip()}\n{text or ''}")
    return done.stdout


class Reader:
    """Somebody who follows one page."""

    def __init__(self, page, binary, home):
        self.page, self.binary, self.home = page, binary, home
        self.daemon = None
        self.database = None
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("SLUICE_", "XDG_", "DATABASE_URL", "PG"))}
        self.environment["HOME"] = str(home)
        # Several pages are read at once: each daemon gets an address of its own.
        self.address = f"127.0.0.1:{free_port()}"
        self.environment["SLUICE_HTTP_LISTEN"] = self.address
        self.exports = []

    def follow(self):
        blocks = BLOCK.findall(self.page.read_text())
        ran = 0
        try:
            for language, info, text in blocks:
                ran += self.run(language, info.split(), text)
        finally:
            self.stop()
        return ran

    def run(self, language, info, text):
        if language == "sh" and "serve" in info:
            self.serve()
        elif language == "sh":
            if "postgres" in info:
                self.need_database()
            wanted = next((int(word[6:]) for word in info if word.startswith("fails=")), 0)
            self.shell(text, wanted)
        elif language == "sql":
            self.need_database(migrated=True)
            psql(self.database, text=text)
        else:
            return 0
        return 1

    def shell(self, text, wanted):
        text = text.replace("build/sluice", str(self.binary)).replace("127.0.0.1:7311", self.address)
        script = "set -euo pipefail\n" + "".join(self.exports) + text
        done = subprocess.run(["bash", "-c", script], cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=120)
        if done.returncode != wanted:
            raise Failed(f"exit {done.returncode}, expected {wanted}:\n{text}\n{done.stdout}{done.stderr}")
        self.exports += [line + "\n" for line in text.splitlines() if line.startswith("export ")]

    def serve(self):
        """./run without the build: the daemon on the embedded store."""
        self.daemon = subprocess.Popen([self.binary, "serve", "-o", "json"], cwd=ROOT, env=self.environment,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if '"ready":true' not in self.daemon.stdout.readline():
            raise Failed("the daemon did not start")

    def need_database(self, migrated=False):
        if self.database is None:
            server = os.environ["SLUICE_TEST_POSTGRES"]
            name = f"docs_{os.getpid()}_{self.page.stem.lower().replace('-', '_')}"
            psql(server, "-c", f"create database {name}")
            self.database = server.rsplit("/", 1)[0] + "/" + name
            self.environment["DATABASE_URL"] = self.database
        if migrated:
            subprocess.run([self.binary, "db", "migrate", "--store", self.database], check=True, capture_output=True)

    def stop(self):
        if self.daemon:
            self.daemon.send_signal(signal.SIGTERM)
            code = self.daemon.wait(timeout=60)
            if code != 0:
                raise Failed(f"the daemon exited with {code} when it was stopped")
        if self.database:
            psql(os.environ["SLUICE_TEST_POSTGRES"], "-c", f"drop database {self.database.rsplit('/', 1)[1]} with (force)")


def main():
    binary, page = Path(sys.argv[1]), ROOT / sys.argv[2]
    with tempfile.TemporaryDirectory() as home:
        try:
            ran = Reader(page, binary, home).follow()
        except Failed as error:
            print(f"{page}: {error}", file=sys.stderr)
            return 1
    print(f"{page.relative_to(ROOT)}: {ran} blocks ran")
    return 0 if ran else 1


if __name__ == "__main__":
    sys.exit(main())
