"""A daemon of its own for one test: on a fresh store, with a configuration, behind a free port."""
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fresh_database import FreshDatabase, psql
from polling import until


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, expected {wanted!r}")


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode()

    def json(self):
        return json.loads(self.text)


class Serving:
    """`kind` is postgres or sqlite. Use it in a with statement; start() and kill() as often as wanted."""

    def __init__(self, sluice, kind, configuration="", arguments=()):
        self.sluice, self.kind, self.configuration, self.arguments = sluice, kind, configuration, list(arguments)
        self.process = self.database = None

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        if self.kind == "postgres":
            self.database = FreshDatabase(self.sluice, "serve").__enter__()
            self.store = self.database.url
        else:
            self.store = f"sqlite:{self.folder / 'serve.db'}"
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("SLUICE_", "DATABASE_URL"))}
        self.environment |= {"HOME": str(self.folder), "SLUICE_STORE": self.store, "SLUICE_ACTOR": "root@box"}
        self.configure(self.configuration)
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.stop()
        if self.database:
            self.database.__exit__()
        self._folder.cleanup()

    def configure(self, text):
        (self.folder / "sluice.toml").write_text(text)

    def start(self):
        self.log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(
            [self.sluice, "serve", "--config", self.folder / "sluice.toml", "--listen", "127.0.0.1:0", "-o", "json",
             *self.arguments],
            env=self.environment, stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the daemon did not start:\n" + (self.folder / "log").read_text())
        self.url = json.loads(line)["url"]
        self.port = urlsplit(self.url).port
        return self

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=60)

    def stop(self):
        self.process.terminate()
        code = self.process.wait(timeout=60)
        if code != 0:
            sys.exit(f"the daemon exited with {code}:\n" + (self.folder / "log").read_text()[-4000:])

    def call(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = dict(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, sent)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.call("GET", path, headers=headers).json()

    def cli(self, *words):
        done = subprocess.run([self.sluice, *words, "-o", "json"], env=self.environment, capture_output=True, text=True,
                              timeout=120)
        if done.returncode != 0:
            sys.exit(f"sluice {' '.join(words)}: exit {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def await_(self, ready, what):
        """Asks until it is so. Some things are looked at every 30 s only."""
        if found := until(ready, patience=120):
            return found
        sys.exit(f"never happened: {what}\n" + (self.folder / "log").read_text()[-4000:])

    def resident_kib(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1])
        return 0
