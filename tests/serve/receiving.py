"""A webhook receiver that keeps what it was sent."""
import http.server
import json
import threading


class Receiver:
    """Answers with `status` (200 unless changed); `bodies` holds what came, in order."""

    def __init__(self):
        self.status, self.bodies, self.headers = 200, [], []
        self._changed = threading.Condition()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                with receiver._changed:
                    status = receiver.status
                    receiver.bodies.append(body)
                    receiver.headers.append({name.lower(): value for name, value in self.headers.items()})
                    receiver._changed.notify_all()
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def await_(self, count):
        """Waits until this many deliveries came."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.bodies) >= count, timeout=120):
                raise SystemExit(f"{len(self.bodies)} deliveries came, expected {count}")

    def ids(self):
        with self._changed:
            return [json.loads(body)["event_id"] for body in self.bodies]
