// From the groups to a finished plan, as an agent would go.
import assert from 'node:assert/strict';
import { Sluice } from './client.mjs';

const sluice = await Sluice.connect();
const changing = [
  'replay_dlq_event', 'replay_outbox_row', 'plan_replay', 'execute_replay_plan',
  'run_event_now', 'reschedule_event', 'cancel_event', 'resend_event', 'edit_and_replay_event',
];
for (const tool of sluice.tools) {
  assert.equal(tool.annotations.readOnlyHint, !changing.includes(tool.name), tool.name);
}

const status = await sluice.call('get_status');
assert.equal(status.generations[0].failed, 9);
assert.match(status.session.actor, /^agent:triage-bot \(for /);

const grouped = await sluice.call('list_failure_clusters');
assert.equal(grouped.count, 9);
assert.deepEqual(grouped.groups.map((group) => group.error_class).sort(), ['ConnectionError', 'TerminalError', 'TimeoutError']);

const timeouts = grouped.groups.find((group) => group.error_class === 'TimeoutError');
const page = await sluice.call('list_dlq_events', { filter: `fp:${timeouts.fingerprint}`, limit: 2 });
assert.equal(page.count, 3);
assert.equal(page.events.length, 2);
const rest = await sluice.call('list_failed_outbox_rows', { filter: `fp:${timeouts.fingerprint}`, cursor: page.next_cursor });
assert.equal(rest.events.length, 1);
assert.equal(rest.next_cursor, null);

const detail = await sluice.call('get_dlq_event_detail', { event_id: rest.events[0].event_id });
assert.deepEqual(detail.payload, { order: 1, email: '[redacted]' });
assert.equal(detail.status, 'failed');
assert.ok(detail.timeline.length > 0);

const one = await sluice.call('replay_dlq_event', { event_id: detail.event_id, reason: 'one to see whether the provider is back' });
assert.equal(one.rows_left, 99);
let replayed = detail;
while (replayed.status !== 'delivered') replayed = await sluice.call('get_dlq_event_detail', { event_id: detail.event_id });
assert.deepEqual(replayed.handled.map((handler) => handler.handler_name), ['shop.outage']);

const plan = await sluice.call('plan_replay', { filter: 'type:outage.*' });
assert.equal(plan.total, 8);
assert.equal(plan.preview.verdicts.will_run, 8);
const started = await sluice.call('execute_replay_plan', { token: plan.token, confirm_count: 8, reason: 'the provider is back' });
assert.equal(started.state, 'running');
const ended = await sluice.untilOver(started.operation_id);
assert.equal(ended.state, 'finished');
assert.equal(ended.delivered, 8);
assert.equal((await sluice.call('plan_replay', { filter: 'type:outage.*' })).token, null);
await sluice.close();
