"""Real brokers for tests in Python: started, killed and started again; spoken to by their text protocols."""
import base64
import json
import socket
import subprocess
import tempfile
from pathlib import Path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A broker in a process of its own; ready when its log says so."""

    def __init__(self, port=None):
        self.port = port or free_port()
        self.folder = tempfile.TemporaryDirectory()
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if self.READY in line:
                return self
        raise SystemExit(f"{self.command()[0]} did not start")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Nats(Server):
    READY = "Server is ready"

    def command(self):
        settings = Path(self.folder.name) / "nats.conf"
        settings.write_text(f'listen: "127.0.0.1:{self.port}"\nmax_payload: 20000\n'
                            f'jetstream {{ store_dir: "{self.folder.name}/data" }}\n')
        return ["nats-server", "-c", str(settings)]

    def request(self, subject, body=""):
        """What JetStream answers."""
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            stream = connection.makefile("rwb")
            stream.readline()  # INFO
            data = body.encode()
            stream.write(b'CONNECT {"verbose":false,"headers":true}\r\nSUB answer 1\r\n'
                         + f"PUB {subject} answer {len(data)}\r\n".encode() + data + b"\r\n")
            stream.flush()
            while not (line := stream.readline()).startswith(b"MSG"):
                if not line:
                    raise SystemExit("NATS hung up")
            return json.loads(stream.read(int(line.split()[-1])))

    def stream(self, verb, **settings):
        """CREATE, UPDATE or DELETE, as an operator would."""
        wanted = {"name": "EVENTS", "subjects": ["events.>"], "storage": "file", "discard": "new"} | settings
        answer = self.request(f"$JS.API.STREAM.{verb}.EVENTS", "" if verb == "DELETE" else json.dumps(wanted))
        if "error" in answer:
            raise SystemExit(answer)

    def prepare(self):
        self.stream("CREATE")

    def count(self):
        return self.request("$JS.API.STREAM.INFO.EVENTS")["state"]["messages"]

    def last(self):
        """Subject or stream, and everything else as text."""
        number = self.count()
        message = self.request("$JS.API.STREAM.MSG.GET.EVENTS", json.dumps({"seq": number}))["message"]
        return message["subject"], base64.b64decode(message["hdrs"]).decode() + base64.b64decode(message["data"]).decode()


class Redis(Server):
    READY = "Ready to accept connections"

    def command(self):
        return ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder.name,
                "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--proto-max-bulk-len", "1mb"]

    def ask(self, *words):
        return subprocess.run(["redis-cli", "-p", str(self.port), *words], check=True, capture_output=True,
                              text=True).stdout.strip()

    def prepare(self):
        self.ask("PING")

    def count(self):
        return int(self.ask("XLEN", "events.order.paid"))

    def last(self):
        return "events.order.paid", self.ask("XREVRANGE", "events.order.paid", "+", "-", "COUNT", "1")


def broker(kind, port=None):
    return {"nats": Nats, "redis": Redis}[kind](port)
