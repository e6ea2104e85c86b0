"""The processes of a round: publishers, workers, daemons, the gate; started again when they die, and their ends counted."""
import os
import signal
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PLACES = ["claimed", "in_handler", "after_effect", "before_settle", "settled"]


class Process:
    """A child that prints a line when it is ready and ends in order when its standard input ends."""

    def __init__(self, words, errors, environment=None):
        self.child = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=open(errors, "ab"), text=True, env=environment)
        self.pid = self.child.pid
        self.was_ready = threading.Event()
        self.last_line = ""
        self.killed_for = None  # the fault that killed it
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.child.stdout:
            self.last_line = line.strip()
            self.was_ready.set()

    def ended(self):
        return self.child.poll()

    def signal(self, number):
        if self.child.poll() is None:
            self.child.send_signal(number)

    def tell(self, line):
        try:
            self.child.stdin.write(line + "\n")
            self.child.stdin.flush()
        except OSError:
            pass  # it has died, and the next one is on its way

    def end(self):
        """Asks it to end; does not wait."""
        try:
            self.child.stdin.close()
        except OSError:
            pass

    def wait(self, seconds):
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self):
        self.signal(signal.SIGKILL)
        self.child.wait()


class Gate:
    """The network before the server."""

    def __init__(self, program, port, seed):
        self.child = subprocess.Popen([program, str(port), str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.child.stdout.readline())
        self.lock = threading.Lock()

    def __call__(self, command):
        with self.lock:
            self.child.stdin.write(command + "\n")
            self.child.stdin.flush()
            return int(self.child.stdout.readline())

    def close(self):
        self.child.stdin.close()
        self.child.wait()


class Receiver:
    """What the daemons deliver to: writes the same line as a handler does, and answers."""

    def __init__(self, path, handler, number_of):
        log = open(path, "a", buffering=1)

        class Handling(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                log.write(f"S {time.monotonic_ns()} {handler} {number_of(self.headers['webhook-id'])}\n")
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handling)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Post:
    """A place in the crew: somebody is always there. `start` makes the process; it is called again after each death."""

    def __init__(self, name, start):
        self.name, self.start = name, start
        self.process = start()
        self.stopped = False  # stands still by SIGSTOP


class Crew:
    def __init__(self, tally):
        self.posts, self.tally = [], tally
        self.lock = threading.RLock()
        self.closing = threading.Event()
        self.died = []  # ends that nobody asked for
        self.watcher = threading.Thread(target=self._watch, daemon=True)
        self.watcher.start()

    def add(self, post):
        with self.lock:
            self.posts.append(post)

    def of(self, *names):
        with self.lock:
            return [post for post in self.posts if post.name.startswith(names) and not post.stopped and post.process.ended() is None]

    def _watch(self):
        while not self.closing.wait(0.02):
            with self.lock:
                for post in self.posts:
                    code = post.process.ended()
                    if code is not None and not self.closing.is_set():
                        self._count(post, code)
                        post.process = post.start()

    def _count(self, post, code):
        if code == -signal.SIGKILL:
            self.tally.add("kills", post.process.killed_for or ("step" if post.name == "worker" else "random"))
        elif not post.process.was_ready.is_set() and code == 1:
            self.tally.add("starts refused", post.name)  # the server was away
            time.sleep(0.05)
        else:
            self.died.append(f"a {post.name} ended with {code}")

    def close(self, seconds):
        """Everybody ends in order; says who did not."""
        self.closing.set()
        self.watcher.join()
        for post in self.posts:
            post.process.signal(signal.SIGCONT)
            post.process.end()
            if post.name == "daemon":
                post.process.signal(signal.SIGTERM)
        until = time.monotonic() + seconds
        for post in self.posts:
            code = post.process.wait(max(0.1, until - time.monotonic()))
            if code is None:
                self.died.append(f"a {post.name} did not end within {seconds} s")
                post.process.kill()
            elif code not in (0, -signal.SIGKILL):
                self.died.append(f"a {post.name} ended with {code}")
        return self.died

    def abandon(self):
        self.closing.set()
        for post in self.posts:
            if post.process.ended() is None:
                post.process.kill()


class Tally:
    """Counts of everything that was done, by kind and name."""

    def __init__(self):
        self.counts, self.lock = {}, threading.Lock()

    def add(self, kind, name, by=1):
        with self.lock:
            self.counts.setdefault(kind, {})
            self.counts[kind][name] = self.counts[kind].get(name, 0) + by

    def total(self, kind):
        return sum(self.counts.get(kind, {}).values())

    def merge(self, other):
        for kind, names in other.items():
            for name, count in names.items():
                self.add(kind, name, count)


def environment(store, folder):
    """For the binary: nothing of the caller's settings."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SLUICE_", "DATABASE_URL"))}
    return kept | {"HOME": str(folder), "SLUICE_STORE": store, "SLUICE_ACTOR": "chaos@campaign",
                   "SLUICE_PATROL_ENABLED": os.environ.get("SLUICE_PATROL_ENABLED", "false")}
