"""run_snippets.py SLUICE PAGE: follows a page of the documentation as a reader does, block by block.

The reader has a checkout that was built, an empty home directory and nothing else: no configuration, no variable of
Sluice's, every default as it is. Fenced blocks by their info string:
  sh            typed into one terminal, in order; variables and the folder stay as the blocks before left them.
                `./run examples` is left out: what it builds is there
  sh serve      the daemon, in a terminal of its own; the next block runs when it says that it is ready
  sh terminal   something else in a terminal of its own, until the end of the page
  sh postgres   like sh, for a reader whose DATABASE_URL names an empty database, as the page has said before
  sql           run in that database by psql
  sql existing  the same for pages whose reader has Sluice's schema in it already
  … file=PATH   a text of any kind, saved under PATH
A sh block that says fails=N must exit with N, any other with 0; one that says prints=TEXT must print that. Anything
else is not run.
"""
import ctypes
import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PORT = 7311


class Failed(Exception):
    pass


def enter_own_network():
    """The daemon answers where the pages say, 127.0.0.1:7311, also while other pages are read: in a network of its own.

    Where the system does not allow that, pages wait for each other. Returns what has to be kept alive.
    """
    new_user, new_network = 0x10000000, 0x40000000
    uid, gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(new_network if uid == 0 else new_network | new_user) != 0:
        lock = open(Path(tempfile.gettempdir(), f"sluice-docs-{PORT}.lock"), "w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock
    if uid != 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        set_flags, up_and_running = 0x8914, 0x41
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh14x", b"lo", up_and_running))
    return None


def server_url(database):
    """By its socket in the file system, which is the same in every network."""
    server = urllib.parse.urlsplit(os.environ["SLUICE_TEST_POSTGRES"])
    folder = urllib.parse.quote(str(Path(os.environ["SLUICE_TEST_POSTGRES_DATA"]).parent), safe="")
    return f"postgres://{server.username}:{server.password}@/{database}?host={folder}&port={server.port}"


def psql(url, *arguments, text=None):
    done = subprocess.run([f"{os.environ['SLUICE_TEST_POSTGRES_BIN']}/psql", url, "-XqAt", "-v", "ON_ERROR_STOP=1", *arguments],
                          input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"psql: {done.stderr.strip()}\n{text or ''}")
    return done.stdout


def option(info, name):
    return next((word[len(name) + 1:] for word in info if word.startswith(name + "=")), None)


class Reader:
    """Somebody who follows one page."""

    def __init__(self, page, binary, folder):
        self.page, self.binary, self.folder = page, binary, Path(folder)
        self.home, self.checkout, self.state = (self.folder / name for name in ("home", "sluice", "state"))
        self.home.mkdir()
        self.daemon, self.terminals, self.database = None, [], None
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("SLUICE_", "XDG_", "DATABASE_URL", "PG"))}
        self.environment["HOME"] = str(self.home)
        self.check_out()

    def check_out(self):
        self.checkout.mkdir()
        for entry in ROOT.iterdir():
            if entry.name not in ("build", "sluice.toml"):
                (self.checkout / entry.name).symlink_to(entry)
        (self.checkout / "build").symlink_to(self.binary.parent)

    def follow(self):
        page, ran = self.page.read_text(), 0
        try:
            for block in BLOCK.finditer(page):
                language, info, text = block[1], block[2].split(), block[3]
                ran += self.run(language, info, text, page[:block.end()])
        finally:
            self.stop()
        return ran

    def run(self, language, info, text, read):
        if option(info, "file"):
            self.save(option(info, "file"), text)
        elif language == "sh" and "serve" in info:
            self.serve(text.strip())
        elif language == "sh" and "terminal" in info:
            self.terminals.append(subprocess.Popen(["bash", "-c", self.script("exec " + text)], env=self.environment))
        elif language == "sh":
            if "postgres" in info:
                self.need_database(read)
            self.shell(text, int(option(info, "fails") or 0), option(info, "prints"))
        elif language == "sql":
            self.need_database(read)
            if "existing" in info:
                subprocess.run([self.binary, "db", "migrate", "--store", self.database], check=True, capture_output=True)
            psql(self.database, text=text)
        else:
            return 0
        return 1

    def save(self, path, text):
        path = self.home / path[2:] if path.startswith("~/") else self.checkout / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def script(self, text):
        """`text` in the terminal that the blocks before have left behind."""
        return (f"cd {self.checkout}\n"
                f"[ ! -e {self.state} ] || . {self.state} 2>/dev/null\n"
                "set -euo pipefail\n" + text)

    def shell(self, text, wanted, printed):
        text = text.replace("./run examples\n", "")
        # What is read-only is the shell's own.
        keep = f"trap '{{ declare -p | grep -vE \"^declare -[a-zA-Z]*r\"; echo \"cd $PWD\"; }} > {self.state}' EXIT\n"
        done = subprocess.run(["bash", "-c", self.script(keep + text)], env=self.environment, capture_output=True, text=True,
                              timeout=120, stdin=subprocess.DEVNULL)
        if done.returncode != wanted:
            raise Failed(f"exit {done.returncode}, expected {wanted}:\n{text}\n{done.stdout}{done.stderr}")
        if printed and printed not in done.stdout:
            raise Failed(f"`{printed}` was not printed:\n{text}\n{done.stdout}{done.stderr}")

    def serve(self, command):
        if "\n" in command:
            raise Failed(f"the daemon is started by one line, not by\n{command}")
        # What ./run does when it has built.
        command = "build/sluice serve" if command == "./run" else command
        log = open(self.folder / "log", "w")
        self.daemon = subprocess.Popen(["bash", "-c", self.script("exec " + command)], env=self.environment,
                                       stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL, text=True)
        if "sluice is ready" not in self.daemon.stdout.readline():
            raise Failed("the daemon did not start:\n" + Path(log.name).read_text())

    def need_database(self, read):
        if "DATABASE_URL" not in read:
            raise Failed("the page has not said that DATABASE_URL names a database")
        if self.database is None:
            name = f"docs_{os.getpid()}_{self.page.stem.lower().replace('-', '_')}"
            psql(server_url("postgres"), "-c", f"create database {name}")
            self.database = server_url(name)
            self.environment["DATABASE_URL"] = self.database

    def stop(self):
        for terminal in self.terminals:
            terminal.send_signal(signal.SIGTERM)
            terminal.wait(timeout=60)
        code = 0
        if self.daemon:
            self.daemon.send_signal(signal.SIGTERM)
            code = self.daemon.wait(timeout=60)
        if self.database:
            name = urllib.parse.urlsplit(self.database).path[1:]
            psql(server_url("postgres"), "-c", f"drop database {name} with (force)")
        if code != 0:
            raise Failed(f"the daemon exited with {code} when it was stopped")


def main():
    binary, page = Path(sys.argv[1]).resolve(), ROOT / sys.argv[2]
    kept = enter_own_network()
    with tempfile.TemporaryDirectory() as folder:
        try:
            ran = Reader(page, binary, folder).follow()
        except Failed as error:
            print(f"{page}: {error}", file=sys.stderr)
            return 1
    del kept
    print(f"{page.relative_to(ROOT)}: {ran} blocks ran")
    return 0 if ran else 1


if __name__ == "__main__":
    sys.exit(main())
