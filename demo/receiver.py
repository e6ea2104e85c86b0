"""A webhook receiver that is broken until it is mended: what the demo's events are delivered to."""

import http.server
import json
import threading

FAILURES = {
    "shop.order.placed": (503, "upstream payments is unavailable: connection refused by 10.0.3.{n}:8443"),
    "shop.invoice.issued": (500, "could not render invoice {n}: template 'footer' not found"),
    "shop.parcel.sent": (422, "address of parcel {n} has no country"),
}


class Receiver:
    """Listens on a free port of 127.0.0.1; fails every delivery until `mended` is set."""

    def __init__(self):
        self.mended = threading.Event()
        self.accepted = 0
        self.refused = 0
        self._lock = threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                event = json.loads(self.rfile.read(int(self.headers["content-length"])))
                status, message = receiver._answer(event)
                body = message.encode()
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _answer(self, event):
        with self._lock:
            if self.mended.is_set():
                self.accepted += 1
                return 200, "ok"
            self.refused += 1
            status, message = FAILURES[event["event_type"]]
            return status, message.format(n=event["payload"]["number"])
