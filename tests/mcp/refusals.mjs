// What an agent may not do, and what it is told.
import assert from 'node:assert/strict';
import { Sluice } from './client.mjs';

const reason = 'trying what is not allowed';

const capped = await Sluice.connect('--max-rows', '5', '--max-rate', '10');
const tooMany = await capped.refused('plan_replay', { filter: 'type:outage.*' });
assert.equal(tooMany.code, 'forbidden');
assert.match(tooMany.message, /^9 events are more than the 5 of 5/);
assert.match(tooMany.hint, /--max-rows/);

const plan = await capped.call('plan_replay', { filter: 'type:outage.a' });
assert.equal(plan.total, 3);
const execute = { token: plan.token, confirm_count: 3, reason };
const wrongToken = await capped.refused('execute_replay_plan', { ...execute, token: '0190a5d0-0000-7000-8000-000000000001' });
assert.equal(wrongToken.code, 'not_found');
assert.match(wrongToken.hint, /plan_replay/);
assert.equal((await capped.refused('execute_replay_plan', { ...execute, confirm_count: 4 })).field, 'confirm_count');
assert.equal((await capped.refused('execute_replay_plan', { token: plan.token, confirm_count: 3 })).field, 'reason');
assert.equal((await capped.refused('execute_replay_plan', { ...execute, rate: 11 })).field, 'rate');
assert.equal((await capped.refused('execute_replay_plan', { ...execute, canary: 0 })).field, 'canary');
const event_id = (await capped.call('list_dlq_events', { limit: 1 })).events[0].event_id;
assert.equal((await capped.refused('replay_dlq_event', { event_id })).field, 'reason');
assert.equal((await capped.refused('replay_dlq_event', { event_id, reason: ' ' })).field, 'reason');
await capped.close();

const reader = await Sluice.connect('--read-only');
assert.deepEqual(reader.tools.filter((tool) => !tool.annotations.readOnlyHint), []);
const refused = await reader.refused('replay_dlq_event', { event_id, reason });
assert.equal(refused.code, 'forbidden');
assert.equal((await reader.refused('execute_replay_plan', execute)).code, 'forbidden');
assert.equal((await reader.call('list_dlq_events')).count, 9);
await reader.close();
