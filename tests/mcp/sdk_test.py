"""sdk_test.py SLUICE OUTAGE_WORKER: the real client library against a SQLite store with nine dead letters of three kinds."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "operate"))
from node_script import run_script
from outage import KINDS, Outage
from raw_client import RawClient

SLUICE, WORKER = sys.argv[1:3]
PAYLOAD = '{"order":1,"email":"ann@example.com"}'


class Sdk(unittest.TestCase):
    def setUp(self):
        self.outage = self.enterContext(Outage(SLUICE, WORKER, "sqlite"))
        self.outage.breaks()
        self.outage.start_worker()
        for kind in KINDS:
            for _ in range(3):
                self.outage.run("publish", kind, "--data", PAYLOAD)
        self.outage.await_dead(9)

    def dead(self):
        return self.outage.json("dlq", "count")["count"]

    def script(self, name):
        code = run_script(name, {**self.outage.environment, "SLUICE": SLUICE})
        self.assertEqual(code, 0, "the script's words are above")

    def audit(self):
        return self.outage.json("audit", "list", "--surface", "mcp")["records"]

    def test_from_the_groups_to_a_finished_plan(self):
        self.outage.is_mended()
        self.script("triage.mjs")
        self.assertEqual(self.dead(), 0)
        told = [(record["actor"], record["reason"], record["count"]) for record in self.audit()]
        agent = "agent:triage-bot (for ann@shop)"
        self.assertEqual(told, [(agent, "the provider is back", 8), (agent, "one to see whether the provider is back", 1)])

    def test_what_is_not_allowed_is_refused_and_changes_nothing(self):
        self.script("refusals.mjs")
        self.assertEqual(self.dead(), 9)
        self.assertEqual(self.audit(), [])

    def test_a_plan_outlives_the_client_that_started_it(self):
        worker = self.outage.workers[0]
        worker.terminate()
        worker.wait()
        with RawClient(SLUICE, self.outage.store) as client:
            token = client.call("plan_replay", filter="type:outage.*")["structuredContent"]["token"]
            client.call("execute_replay_plan", token=token, confirm_count=9, reason="the provider is back")
            _, err, code = client.end()
        self.assertEqual(code, 0)
        self.assertIn(f"sluice op watch {token}", err)
        self.outage.is_mended()
        self.outage.start_worker()
        self.assertEqual(self.outage.json("op", "watch", token)["delivered"], 9)


unittest.main(argv=sys.argv[:1])
