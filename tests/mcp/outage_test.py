"""outage_test.py SLUICE OUTAGE_WORKER: 5,000 events of three error kinds fail on PostgreSQL, and an agent brings them home."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "operate"))
from node_script import start_script
from outage import Outage

SLUICE, WORKER = sys.argv[1:3]
TOTAL = 5000


class OutageThroughMcp(unittest.TestCase):
    def setUp(self):
        self.outage = self.enterContext(Outage(SLUICE, WORKER, "postgres"))

    def count(self, condition):
        return int(self.outage.sql(f"select count(*) from core.outbox where {condition}")[0])

    def test_all_are_delivered_and_the_audit_tells_who_did_it(self):
        self.outage.breaks()
        self.outage.start_worker()
        self.outage.publish(TOTAL)
        self.outage.await_dead(TOTAL)
        with start_script("outage.mjs", {**self.outage.environment, "SLUICE": SLUICE}) as agent:
            self.assertEqual(agent.stdout.readline(), "repair\n", "the agent's words are above")
            self.outage.is_mended()
            agent.communicate("repaired\n")
        self.assertEqual(agent.returncode, 0, "the agent's words are above")

        self.assertEqual(self.count("status = 'delivered'"), TOTAL)
        self.assertEqual(self.count("jsonb_array_length(failure_history) = 1"), TOTAL - 10)
        self.assertEqual(self.count("jsonb_array_length(failure_history) = 2"), 10, "the canary")
        audit = "select actor || ': ' || reason || ', ' || count from core.audit where surface = 'mcp' order by id"
        name = "agent:triage-bot (for ann@shop)"
        self.assertEqual(self.outage.sql(audit),
                         [f"{name}: hoping for the best, {TOTAL}", f"{name}: the shop is repaired, {TOTAL}"])


unittest.main(argv=sys.argv[:1])
