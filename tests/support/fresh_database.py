"""A migrated database of its own for one test, in the server that tests/support/with-postgres started."""
import fcntl
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
        psql(self.server, f"create database {self.name} template {self._template()} strategy file_copy")
        return self

    def _template(self):
        """What this binary migrates to, made by the first test that needs it; it carries its name once it is complete."""
        built = os.stat(self.sluice)
        name = f"library_template_{built.st_size}_{built.st_mtime_ns}"
        with open(f"{os.environ['SLUICE_TEST_POSTGRES_DATA']}/../{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not psql(self.server, f"select 1 from pg_database where datname = '{name}'"):
                draft = f"{name}_draft"
                psql(self.server, f"create database {draft}")
                url = self.server.rsplit("/", 1)[0] + "/" + draft
                subprocess.run([self.sluice, "db", "migrate", "--store", url], check=True, capture_output=True)
                psql(self.server, f"alter database {draft} rename to {name}")
        return name

    def __exit__(self, *_):
        psql(self.server, f"drop database {self.name} with (force)")

    def sql(self, text):
        return psql(self.url, text)
