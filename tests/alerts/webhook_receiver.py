"""webhook_receiver.py [PORT]: a webhook receiver for tests, strict about what it takes.

It prints its port, then one line of JSON per request: what it answered, the headers and the body. What it
answers is told on standard input, one line per request that is to come: a status, optionally followed by
`Name: value` headers separated by `|`, or `hang`, which reads the request and answers when the input ends.
Without a line left it answers 200. Something that is not an alert is answered with 400.
"""
import json
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TEXT, NUMBER = str, int
FIELDS = {
    "alert": TEXT, "alert_id": TEXT, "service": TEXT, "environment": TEXT, "event_id": TEXT, "event_type": TEXT,
    "source": TEXT, "target": (str, type(None)), "workspace_id": (str, type(None)), "generation": NUMBER,
    "handler_name": (str, type(None)), "error_class": TEXT, "fingerprint": TEXT, "last_error": TEXT,
    "attempts": NUMBER, "suppressed": NUMBER, "trace_context": (str, type(None)), "failed_at": TEXT,
}

orders = queue.Queue()
over = threading.Event()
printing = threading.Lock()


def tell(value):
    with printing:
        print(value if isinstance(value, int) else json.dumps(value), flush=True)


def complaint(request, body):
    if request.headers.get("Content-Type") != "application/json":
        return "the content type is not application/json"
    try:
        alert = json.loads(body)
    except ValueError as error:
        return f"not JSON: {error}"
    if list(alert) != list(FIELDS):
        return f"the fields are {list(alert)}"
    wrong = [name for name, kind in FIELDS.items() if not isinstance(alert[name], kind)]
    return f"of the wrong type: {wrong}" if wrong else None


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        wrong = complaint(self, body)
        order = "400" if wrong else self.next_order()
        tell({"answered": order, "complaint": wrong, "path": self.path, "headers": dict(self.headers), "body": body})
        if order == "hang":
            over.wait()
            self.close_connection = True
            return
        status, *headers = order.split("|")
        self.send_response(int(status))
        for header in headers:
            self.send_header(*header.split(": ", 1))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def next_order(self):
        try:
            return orders.get_nowait()
        except queue.Empty:
            return "200"

    def log_message(self, *_):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Receiver)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # Orders that are given before the first alert are there before the port is known.
    for line in sys.stdin:
        if line.strip() == "ready":
            tell(server.server_address[1])
        else:
            orders.put(line.strip())
    over.set()
    server.shutdown()


main()
