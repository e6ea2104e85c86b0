"""What the receivers of the tests share: HTTP servers that are told on standard input how to answer.

An order is one line per request to come: a status, optionally followed by `|Name: value` headers and `|=body`; what
else there is belongs to the receiver. Without an order it answers 200. `ready` makes it listen and print its port, so
that orders given before are there before anybody knows where to send; `away` prints the port while it still refuses.
What comes is told on standard output, one line of JSON each.
"""
import json
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

orders = queue.Queue()
over = threading.Event()
printing = threading.Lock()


def tell(value):
    with printing:
        print(value if isinstance(value, int) else json.dumps(value), flush=True)


class OrderedReceiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def read_body(self):
        return self.rfile.read(int(self.headers["Content-Length"])).decode()

    def next_order(self):
        try:
            return orders.get_nowait()
        except queue.Empty:
            return "200"

    def answer(self, order):
        status, *extras = order.split("|")
        body = b""
        self.send_response(int(status))
        for extra in extras:
            if extra.startswith("="):
                body = extra[1:].encode()
            else:
                self.send_header(*extra.split(": ", 1))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512


def run(receiver):
    """Serves on a port of its own until the input ends. The port is taken at the start: nobody else gets it meanwhile."""
    server = Server(("127.0.0.1", 0), receiver, bind_and_activate=False)
    server.server_bind()
    serving = None
    for line in sys.stdin:
        order = line.strip()
        if order not in ("ready", "away"):
            orders.put(order)
            continue
        begins = order == "ready" and not serving
        if begins:
            server.server_activate()
        # Before the first request can be told: whoever asked for the port reads one line for it.
        tell(server.server_address[1])
        if begins:
            serving = threading.Thread(target=server.serve_forever, daemon=True)
            serving.start()
    over.set()
    if serving:
        server.shutdown()
