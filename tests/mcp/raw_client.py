"""A client that writes and reads the lines of `sluice mcp` itself, for what a client library hides or does not speak."""
import json
import subprocess

STATELESS = "2026-07-28"


class RawClient:
    def __init__(self, sluice, store, *flags):
        self.process = subprocess.Popen([sluice, "mcp", "--store", store, *flags], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.requests = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end()

    def send(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def request(self, method, params=None):
        """The whole answer to one request."""
        self.requests += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params or {}}))
        answer = self.receive()
        assert answer["id"] == self.requests, answer
        return answer

    def stateless(self, method, version=STATELESS, **params):
        """The same in the current revision, which has no session."""
        meta = {"io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"}}
        return self.request(method, {**params, "_meta": meta})

    def call(self, tool, **arguments):
        """The result of a tool, in the current revision."""
        return self.stateless("tools/call", name=tool, arguments=arguments)["result"]

    def end(self):
        """Ends the input; what was left on stdout, stderr, and the exit code."""
        out, err = self.process.communicate()
        return out, err, self.process.returncode
