#!/usr/bin/env python3
"""A worker for Sluice in Python, standard library only.

It claims events over HTTP, keeps its claims alive while it works, and says how each event went:

    SLUICE_URL=http://127.0.0.1:7311 python3 worker.py

Write your own `handle` and keep the rest. Delivery is at least once: after a crash, a lost connection or a claim that
ran out, the same event comes again. Make the effect idempotent by `event["idempotency_key"]`, which stays the same
through retries and replays.
"""

import http.client
import json
import os
import random
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request


class Terminal(Exception):
    """Raise it when another attempt cannot help: the event goes to the dead letters at once."""


class Defer(Exception):
    """Raise it for "not now": the event comes again after this many seconds, and no attempt is counted."""

    def __init__(self, seconds):
        super().__init__(f"not before {seconds} s have passed")
        self.seconds = seconds


class Worker:
    def __init__(self, handler, event_types, handle, *, url=None, token=None, name=None, limit=10, ttl=60, wait=None):
        self.url = (url or os.environ.get("SLUICE_URL", "http://127.0.0.1:7311")).rstrip("/")
        self.token = token or os.environ.get("SLUICE_TOKEN")
        self.handler, self.event_types, self.handle = handler, event_types, handle
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self.limit, self.ttl = limit, ttl
        self.wait = wait or int(os.environ.get("SLUICE_WAIT_SECONDS", "10"))
        self._stop = threading.Event()
        self._held = {}  # claim -> True once it is known to be lost
        self._lock = threading.Lock()

    def stop(self, *_):
        """Finishes what it is working on, gives the rest back, and returns from run() within `wait` seconds."""
        self._stop.set()

    def run(self):
        threading.Thread(target=self._keep_claims, daemon=True).start()
        failures = 0
        while not self._stop.is_set():
            try:
                claims = self._claim()
                failures = 0
            except OSError as error:  # refused, timed out, or an answer that is not 2xx
                failures += 1
                self._back_off(failures, error)
                continue
            for position, claim in enumerate(claims):
                if self._stop.is_set():
                    self._settle([{"claim": one["claim"], "outcome": "released"} for one in claims[position:]])
                    break
                self._settle([self._work(claim)])

    def _claim(self):
        answer = self._post("/v1/claims", {
            "handler": self.handler, "event_types": self.event_types, "worker": self.name,
            "limit": self.limit, "wait_seconds": self.wait, "ttl_seconds": self.ttl,
        }, timeout=self.wait + 30)
        with self._lock:
            self._held.update((claim["claim"], False) for claim in answer["claims"])
        return answer["claims"]

    def _work(self, claim):
        """Runs the handler and turns what it did into a settlement."""
        report = {"claim": claim["claim"]}
        with self._lock:
            if self._held.get(claim["claim"]):
                return {**report, "outcome": "released"}  # lost while it waited its turn: somebody else has it
        try:
            self.handle(claim["event"])
            return {**report, "outcome": "handled"}
        except Defer as later:
            return {**report, "outcome": "deferred", "retry_after_seconds": later.seconds}
        except Exception as error:  # whatever the handler raises is a failed attempt
            return {**report, "outcome": "failed", "error_class": type(error).__name__,
                    "message": cut(str(error)), "terminal": isinstance(error, Terminal)}

    def _settle(self, reports):
        """Repeats until the answer is there: settling the same claim twice changes nothing."""
        failures = 0
        give_up = time.monotonic() + self.ttl
        while reports:
            try:
                answer = self._post("/v1/claims/settle", {"settlements": reports})
                for one in answer["settled"]:
                    if one["result"] != "settled":
                        log(f"{one['result']}: " + one.get("detail", "another worker has this event, or an earlier try counted"))
                break
            except OSError as error:
                failures += 1
                if time.monotonic() > give_up:
                    log(f"cannot settle, the claim will run out: {error}")
                    break
                self._back_off(failures, error, stop_ends_it=False)
        with self._lock:
            for report in reports:
                self._held.pop(report["claim"], None)

    def _keep_claims(self):
        """Renews the claims that are held, three times per ttl, so that a slow handler does not lose its event."""
        while True:
            time.sleep(self.ttl / 3)
            with self._lock:
                claims = list(self._held)
            if not claims:
                continue
            try:
                lost = self._post("/v1/claims/heartbeat", {"claims": claims, "ttl_seconds": self.ttl})["lost"]
            except OSError as error:
                log(f"cannot renew claims: {error}")
                continue
            with self._lock:
                for claim in lost:
                    if claim in self._held:
                        self._held[claim] = True

    def _back_off(self, failures, error, stop_ends_it=True):
        pause = random.uniform(0, min(30, 0.5 * 2 ** failures))
        log(f"{error}; trying again in {pause:.1f} s")
        if stop_ends_it:
            self._stop.wait(pause)
        else:
            time.sleep(pause)

    def _post(self, path, body, timeout=30):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            problem = error.read().decode(errors="replace")
            if error.code in (400, 401, 403, 404, 409, 415):  # the same request will fail the same way
                sys.exit(f"{path}: {error.code} {problem}")
            raise OSError(f"{path}: {error.code} {problem}") from error
        except (http.client.HTTPException, ValueError) as error:  # cut off in the middle of the answer
            raise OSError(f"{path}: {error}") from error


def cut(text, most=4096):
    """No more bytes than are kept, and no half character at the end."""
    return text.encode(errors="replace")[:most].decode(errors="ignore")


def log(text):
    print(text, file=sys.stderr, flush=True)


def handle(event):
    """Yours to write. Here: a greeting for each customer."""
    if "name" not in event["payload"]:
        raise Terminal("the payload has no name")
    print(f"{event['idempotency_key']} hello {event['payload']['name']}", flush=True)


if __name__ == "__main__":
    worker = Worker("examples.greeter", ["customer.*"], handle)
    for stop_signal in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop_signal, worker.stop)
    worker.run()
