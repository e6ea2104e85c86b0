"""orphans_test.py SLUICE postgres|sqlite: the daemon is killed while a receiver has not answered yet. The next daemon on the same machine
takes the event back at once, counting an attempt, instead of waiting for the claim to run out."""
import http.server
import sys
import threading

from serving import Serving, expect

CONFIGURATION = """\
[sinks.receiver]
kind = "http"
url = "{url}"
allow = ["127.0.0.1"]
timeout = "10m"

[subscriptions."shop.receiver"]
events = ["shop.*"]
sink = "receiver"
retry = {{ attempts = 5, base = "1s", cap = "1s", jitter = "none" }}
"""


class SlowReceiver:
    """Does not answer before it is told to."""

    def __init__(self):
        self.asked, self.answer = threading.Event(), threading.Event()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"]))
                receiver.asked.set()
                receiver.answer.wait()
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()


def main():
    sluice, kind = sys.argv[1:3]
    receiver = SlowReceiver()
    with Serving(sluice, kind, CONFIGURATION.format(url=receiver.url)) as daemon:
        daemon.start()
        answer = daemon.call("POST", "/v1/events", {"type": "shop.sold", "source": "shop"})
        expect(answer.status, 201, f"publish: {answer.text}")
        event_id = answer.json()["event_id"]
        expect(receiver.asked.wait(60), True, "the receiver is asked")
        daemon.kill()
        receiver.answer.set()

        daemon.start()
        def delivered():
            found = daemon.get(f"/v1/events/{event_id}")
            return found["status"] == "delivered" and found
        found = daemon.await_(delivered, "the event is delivered long before its claim would run out")
        expect((found["attempts"], found["claim_seq"]), (1, 2), "one attempt is counted for the killed daemon")
        workers = daemon.get("/v1/workers")["workers"]
        expect(len(workers), 1, f"the killed one is signed off: {workers}")
    print("a killed daemon's event was taken back at once")


main()
