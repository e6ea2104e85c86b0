"""daemon_test.py SLUICE: sinks of a configuration file in the daemon. An event is published over HTTP, refused once,
tried again and delivered; the file changes, SIGHUP takes the change over; a receiver that is gone disables its sink."""
import base64
import hashlib
import hmac
import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from polling import until

HERE = Path(__file__).resolve().parent
KEY = b"a key of twenty-four byte"[:24]
SECRET = "whsec_" + base64.b64encode(KEY).decode()

SINK = """
[sinks.{name}]
kind = "http"
url = "{url}"
secret_env = "SHOP_SECRET"
allow = ["127.0.0.1"]

[subscriptions."shop.{name}"]
events = ["invoice.*"]
sink = "{name}"
retry = {{ base = "10ms", cap = "10ms" }}
"""


def expect(seen, wanted, what):
    if seen != wanted:
        sys.exit(f"{what}: expected {wanted!r}, got {seen!r}")


class Receiver:
    def __init__(self, *orders):
        self.process = subprocess.Popen([sys.executable, HERE / "receiver.py"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.order(*orders, "ready")
        self.url = f"http://127.0.0.1:{self.process.stdout.readline().strip()}/in"

    def order(self, *lines):
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def next(self):
        return json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


class Daemon:
    def __init__(self, sluice, folder):
        self.config = folder / "sluice.toml"
        environment = {**os.environ, "HOME": str(folder), "SHOP_SECRET": SECRET}
        self.process = subprocess.Popen(
            [sluice, "serve", "-o", "json", "--config", self.config, "--store", f"sqlite:{folder}/sluice.db",
             "--listen", "127.0.0.1:0", "--log-level", "error"],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = json.loads(self.process.stdout.readline())["url"]

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return json.load(answer)

    def sink(self, name):
        return next(sink for sink in self.get("v1/sinks")["sinks"] if sink["name"] == name)

    def publish(self):
        return self.post("v1/events", {"event_type": "invoice.paid", "source": "billing", "payload": {"n": 1}})["event_id"]

    def await_sink(self, name, enough):
        return until(lambda: self.sink(name), enough)

    def reload(self):
        self.process.send_signal(signal.SIGHUP)
        for line in self.process.stderr:
            if "reloaded" in line:
                return line.strip()
        sys.exit("the daemon ended instead of reloading")

    def stop(self):
        self.process.terminate()
        expect(self.process.wait(timeout=60), 0, "the daemon's exit")


def check_signature(request):
    headers = request["headers"]
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{request['body']}".encode()
    wanted = base64.b64encode(hmac.new(KEY, content, hashlib.sha256).digest()).decode()
    expect(headers["webhook-signature"], f"v1,{wanted}", "the signature")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shop, till = Receiver("503|=not yet"), Receiver()
        (folder / "sluice.toml").write_text(SINK.format(name="shop", url=shop.url))
        daemon = Daemon(sys.argv[1], folder)

        first = daemon.publish()
        refused, taken = shop.next(), shop.next()
        expect(refused["order"], "503|=not yet", "the first answer")
        for request in (refused, taken):
            expect(request["headers"]["webhook-id"], first, "the id")
            check_signature(request)
        seen = daemon.await_sink("shop", lambda sink: sink["delivered"] == 1)
        expect((seen["failed"], seen["state"], seen["subscriptions"]), (1, "active", ["shop.shop"]), "the sink")

        (folder / "sluice.toml").write_text("[sinks.shop]\nkind = \"htpp\"\n")
        if "2:1" not in daemon.reload():
            sys.exit("a bad file was not refused with its position")
        (folder / "sluice.toml").write_text(SINK.format(name="shop", url=shop.url) + SINK.format(name="till", url=till.url))
        daemon.reload()
        second = daemon.publish()
        expect({shop.next()["headers"]["webhook-id"], till.next()["headers"]["webhook-id"]}, {second}, "both receivers")

        expect(daemon.post("v1/sinks/till/test", {})["ok"], True, "the trial delivery")
        expect(json.loads(till.next()["body"])["event_type"], "sluice.test", "the trial event")

        till.order("410")
        daemon.publish()
        daemon.await_sink("till", lambda sink: sink["state"] == "disabled")
        daemon.post("v1/sinks/till/resume", {"reason": "it is back"})
        expect(daemon.sink("till")["state"], "active", "the resumed sink")
        daemon.stop()
        shop.stop()
        till.stop()
    print("delivered, refused and tried again, reloaded, disabled and resumed")


main()
