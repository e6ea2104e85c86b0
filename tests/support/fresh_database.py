"""A migrated database of its own for one test, in the server that tests/support/with-postgres started."""
import os
import subprocess


def psql(url, sql):
    """Runs SQL; returns what it printed, unaligned, without headers."""
    program = f"{os.environ['SLUICE_TEST_POSTGRES_BIN']}/psql"
    done = subprocess.run([program, url, "-XqAt", "-v", "ON_ERROR_STOP=1"], input=sql, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"psql: {done.stderr.strip()}\n{sql}")
    return done.stdout.strip()


class FreshDatabase:
    def __init__(self, sluice, name):
        self.sluice, self.name = sluice, f"library_{name}_{os.getpid()}"
        self.server = os.environ["SLUICE_TEST_POSTGRES"]
        self.url = self.server.rsplit("/", 1)[0] + "/" + self.name

    def __enter__(self):
        psql(self.server, f"create database {self.name}")
        subprocess.run([self.sluice, "db", "migrate", "--store", self.url], check=True, capture_output=True)
        return self

    def __exit__(self, *_):
        psql(self.server, f"drop database {self.name} with (force)")

    def sql(self, text):
        return psql(self.url, text)
