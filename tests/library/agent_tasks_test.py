"""agent_tasks_test.py PROGRAM SLUICE MIGRATION: the AgentTask example end to end, and what must not happen twice."""
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fresh_database import FreshDatabase
from polling import until

PROGRAM, SLUICE, MIGRATION = sys.argv[1:4]
CONVERSATION = "0190a5d0-0000-7000-8000-000000000001"
PATIENCE = 120  # seconds after which a test that waits has failed


class LockHolder:
    """A session that keeps one task's row locked, so that whoever executes it waits inside its handler."""

    def __init__(self, database, task):
        program = f"{os.environ['SLUICE_TEST_POSTGRES_BIN']}/psql"
        self.session = subprocess.Popen([program, database.url, "-XqAt"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.session.stdin.write(f"begin;\nselect id from platform.agent_tasks where id = '{task}' for update;\n")
        self.session.stdin.flush()
        assert self.session.stdout.readline().strip() == task

    def release(self):
        self.session.communicate("rollback;\n")


class AgentTasks(unittest.TestCase):
    def setUp(self):
        self.database = self.enterContext(FreshDatabase(SLUICE, "agent_tasks"))
        self.database.sql(Path(MIGRATION).read_text())
        self.environment = {**os.environ, "SLUICE_STORE": self.database.url}

    def program(self, *arguments):
        done = subprocess.run([PROGRAM, *arguments], env=self.environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def dispatch(self, instruction, *flags):
        return self.program("dispatch", CONVERSATION, instruction, *flags)

    def worker(self, *arguments):
        worker = subprocess.Popen([PROGRAM, "work", *arguments], env=self.environment, stdout=subprocess.DEVNULL)
        self.addCleanup(lambda: (worker.kill(), worker.wait()))
        return worker

    def stop(self, worker):
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(PATIENCE), 0)

    def await_sql(self, question, answer):
        """The database is asked until it gives the answer."""
        self.assertEqual(until(lambda: self.database.sql(question), lambda got: got == answer, PATIENCE), answer, question)

    def status(self, task):
        return f"select status from platform.agent_tasks where id = '{task}'"

    def results(self, task):
        return self.database.sql(f"select count(*) from platform.agent_results where agent_task_id = '{task}'")

    def messages(self):
        return self.database.sql("select body from platform.conversation_messages order by id")

    def test_a_task_is_executed_and_its_result_reaches_the_conversation(self):
        task = self.dispatch("what is new?")
        self.assertEqual(self.database.sql("select payload ->> 'agent_task_id' from core.outbox"), task)
        self.assertEqual(self.database.sql("select t.id from platform.agent_tasks t join core.outbox o on o.id = t.trigger_event_id"), task)
        worker = self.worker()
        self.await_sql(self.status(task), "done")
        self.stop(worker)
        self.assertEqual(self.messages(), "I have thought about this: what is new?")
        self.assertEqual(self.database.sql("select string_agg(event_type || ' ' || status, ', ' order by event_type desc) from core.outbox"),
                         "agent.task.dispatched delivered, agent.task.approved delivered")

    def test_a_result_that_needs_approval_waits_for_a_person(self):
        task = self.dispatch("delete everything", "--needs-approval")
        worker = self.worker()
        self.await_sql(self.status(task), "awaiting_approval")
        self.assertEqual(self.messages(), "")
        self.program("approve", task, "ann@example.com")
        self.await_sql(self.status(task), "done")
        self.stop(worker)
        self.assertEqual(self.database.sql("select approved_by from platform.agent_tasks"), "ann@example.com")
        refused = subprocess.run([PROGRAM, "approve", task, "ann@example.com"], env=self.environment, capture_output=True)
        self.assertEqual(refused.returncode, 1)

    def test_a_repeated_event_does_not_execute_its_task_again(self):
        task = self.dispatch("once, please")
        again = ("select core.outbox_publish('agent.task.dispatched', payload, p_source => source, p_target => target,"
                 " p_idempotency_key => idempotency_key) from core.outbox where event_type = 'agent.task.dispatched' limit 1")
        self.database.sql(again)
        worker = self.worker()
        self.await_sql("select count(*) from core.outbox where status <> 'delivered'", "0")
        self.database.sql(again)
        self.await_sql("select count(*) from core.outbox where status = 'delivered'", "4")
        self.stop(worker)
        self.assertEqual(self.results(task), "1")
        self.assertEqual(self.messages(), "I have thought about this: once, please")

    def test_a_worker_that_is_killed_while_it_executes_leaves_nothing_half_done(self):
        task = self.dispatch("survive")
        lock = LockHolder(self.database, task)
        killed = self.worker("1s")
        self.await_sql("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%platform.agent_tasks%'", "1")
        killed.send_signal(signal.SIGKILL)
        self.assertEqual(killed.wait(PATIENCE), -signal.SIGKILL)
        lock.release()
        self.assertEqual(self.database.sql("select status from core.outbox"), "in_flight")
        self.assertEqual(self.results(task), "0")
        worker = self.worker("1s")
        self.await_sql(self.status(task), "done")
        self.stop(worker)
        self.assertEqual(self.results(task), "1")
        self.assertEqual(self.messages(), "I have thought about this: survive")

    def test_finished_tasks_are_swept_when_their_retention_has_passed(self):
        task, kept = self.dispatch("old"), self.dispatch("new")
        worker = self.worker()
        self.await_sql(self.status(task), "done")
        self.await_sql(self.status(kept), "done")
        self.stop(worker)
        self.database.sql(f"update platform.agent_tasks set finished_at = now() - interval '91 days' where id = '{task}'")
        self.assertEqual(self.database.sql("select platform.sweep_agent_tasks()"), "1")
        self.assertEqual(self.database.sql("select id from platform.agent_tasks"), kept)


unittest.main(argv=sys.argv[:1])
