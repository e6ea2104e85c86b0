"""The shop of tests/operate with a daemon in front of it, for a browser to look at."""
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "operate"))
sys.path.insert(0, str(HERE.parent / "support"))
from node_program import start_script
from outage import Outage, expect, until  # noqa: F401 (stories use them)


class Shop(Outage):
    """`pictures` is the folder that screenshots go to."""

    def __init__(self, sluice, worker, kind, pictures):
        super().__init__(sluice, worker, kind)
        self.pictures = pictures
        self.daemon = None

    def __exit__(self, *problem):
        if self.daemon:
            self.stop()
        super().__exit__(*problem)

    def serve(self, *words, listen="127.0.0.1:0", **settings):
        """Starts the daemon, on a free port if not told otherwise; `settings` are environment variables without their SLUICE_."""
        environment = self.environment | {f"SLUICE_{name}": value for name, value in settings.items()}
        self.daemon = subprocess.Popen([self.sluice, "serve", "--listen", listen, "-o", "json", *words],
                                       env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.daemon.stdout.readline()
        if '"ready":true' not in line:
            sys.exit("the daemon did not start")
        self.url = json.loads(line)["url"]

    def stop(self):
        self.daemon.terminate()
        self.daemon.wait(timeout=60)

    def dead(self, count):
        """So many dead letters of three kinds; their handler still fails."""
        self.breaks()
        self.start_worker()
        self.publish(count)
        self.await_dead(count)

    def dead_left(self):
        return self.json("dlq", "count")["count"]

    def story(self, name, answer=None):
        """Plays tests/console/NAME.mjs. Lines that it prints are given to `answer`, which may return one."""
        environment = self.environment | {"CONSOLE": self.url, "PICTURES": str(self.pictures)}
        with start_script(HERE, "play.mjs", environment, name) as script:
            for line in script.stdout:
                print(line, end="")
                if answer and (reply := answer(line.strip())):
                    script.stdin.write(reply + "\n")
                    script.stdin.flush()
            if script.wait() != 0:
                sys.exit(f"{name}: the browser's words are above")
