"""stdio_test.py SLUICE SOURCE: the protocol on the wire, both eras, and the list of tools as a golden file.

UPDATE_GOLDEN=1 rewrites tests/golden/mcp_tools.json.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from raw_client import STATELESS, RawClient

SLUICE, SOURCE = sys.argv[1], Path(sys.argv[2])
GOLDEN = SOURCE / "tests/golden/mcp_tools.json"
PAGE = SOURCE / "docs/reference/mcp.md"
HANDSHAKES = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]


class Stdio(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.store = f"sqlite:{folder}/sluice.db"
        subprocess.run([SLUICE, "db", "migrate", "--store", self.store], check=True, capture_output=True)

    def client(self, *flags):
        return self.enterContext(RawClient(SLUICE, self.store, *flags))

    def tools(self, *flags):
        return self.client(*flags).stateless("tools/list")["result"]["tools"]

    def test_each_handshake_is_answered_in_its_version(self):
        for version in HANDSHAKES:
            client = self.client()
            answer = client.request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}})
            self.assertEqual(answer["result"]["protocolVersion"], version)
            client.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
            self.assertEqual(client.request("ping")["result"], {})
            self.assertEqual(len(client.request("tools/list")["result"]["tools"]), 17)
            called = client.request("tools/call", {"name": "get_status", "arguments": {}})["result"]
            self.assertEqual(json.loads(called["content"][0]["text"]), called["structuredContent"])

    def test_the_current_revision_needs_no_handshake(self):
        client = self.client()
        found = client.stateless("server/discover")["result"]
        self.assertEqual(found["supportedVersions"], [STATELESS, *HANDSHAKES])
        self.assertEqual((found["resultType"], found["cacheScope"]), ("complete", "private"))
        listed = client.stateless("tools/list")["result"]
        self.assertEqual(listed["resultType"], "complete")
        self.assertGreater(listed["ttlMs"], 0)
        self.assertEqual(client.call("get_status")["structuredContent"]["session"]["rows_left"], 100)

    def test_another_version_is_answered_with_those_that_are_spoken(self):
        error = self.client().stateless("tools/list", version="2031-01-01")["error"]
        self.assertEqual(error["code"], -32022)
        self.assertEqual(error["data"], {"supported": [STATELESS, *HANDSHAKES], "requested": "2031-01-01"})

    def test_garbage_is_answered_and_survived(self):
        client = self.client()
        for text, code in [("nonsense", -32700), ("[]", -32600), ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
                           ("x" * (2 << 20), -32600), ('{"a":' * 5000, -32700)]:
            client.send(text)
            self.assertEqual(client.receive()["error"]["code"], code, text[:40])
        self.assertEqual(client.stateless("no/such/method")["error"]["code"], -32601)
        self.assertEqual(client.stateless("tools/call", name="no_such_tool")["error"]["code"], -32602)
        self.assertEqual(client.request("ping")["result"], {})

    def test_it_ends_with_its_input_and_says_nothing_else_on_stdout(self):
        client = self.client()
        client.call("get_status")
        out, err, code = client.end()
        self.assertEqual((out, code), ("", 0))
        self.assertIn("at most 100 events replayed, 50 per second", err)

    def test_a_wrong_argument_is_a_tool_error_that_names_it(self):
        result = self.client().call("plan_replay", filter="type:*", canary=3)
        self.assertTrue(result["isError"])
        error = json.loads(result["content"][0]["text"])["error"]
        self.assertEqual((error["code"], error["field"]), ("invalid", "canary"))

    def test_a_missing_store_is_an_error_before_anything_is_served(self):
        done = subprocess.run([SLUICE, "mcp", "--store", self.store + ".missing"], input="", capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")

    def test_caps_that_are_no_numbers_are_usage_errors(self):
        for flag in ["--max-rows", "--max-rate"]:
            done = subprocess.run([SLUICE, "mcp", "--store", self.store, flag, "0"], input="", capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(flag, done.stderr)

    def test_the_tools_are_the_golden_ones(self):
        listed = json.dumps(self.tools(), indent=2, ensure_ascii=False) + "\n"
        if os.environ.get("UPDATE_GOLDEN"):
            GOLDEN.write_text(listed)
        self.assertEqual(listed, GOLDEN.read_text(), f"{GOLDEN} differs; if the change is meant, run with UPDATE_GOLDEN=1")

    def test_the_reference_page_lists_every_tool_and_argument(self):
        reading = {tool["name"] for tool in self.tools("--read-only")}
        expected = []
        for tool in self.tools():
            schema = tool["inputSchema"]
            words = [f"`{name}`" if name in schema.get("required", []) else f"[`{name}`]" for name in schema["properties"]]
            expected.append(f"| `{tool['name']}` | {'reads' if tool['name'] in reading else 'changes'} | {' '.join(words)} |")
        section = PAGE.read_text().split("## Tools")[1].split("## ")[0]
        shown = [line.rsplit("|", 2)[0] + "|" for line in section.splitlines() if line.startswith("| `")]
        self.assertEqual(shown, expected)


unittest.main(argv=sys.argv[:1])
