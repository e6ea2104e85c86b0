// The outage of outage_test.py, played through by an agent. It tells the driver on stdout when to repair the shop,
// and goes on when the driver answers on stdin.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Sluice } from './client.mjs';

const total = 5000;
const filter = 'type:outage.*';
const sluice = await Sluice.connect('--max-rows', String(2 * total), '--max-rate', '5000');

const grouped = await sluice.call('list_failure_clusters');
assert.equal(grouped.groups.length, 3);
assert.equal(grouped.count, total);

// Too early: the canary fails again, and the rest is left alone.
const hasty = await sluice.call('plan_replay', { filter });
assert.equal(hasty.total, total);
const first = await sluice.call('execute_replay_plan', { token: hasty.token, confirm_count: total, canary: 10, reason: 'hoping for the best' });
const stopped = await sluice.untilOver(first.operation_id);
assert.equal(stopped.state, 'stopped');
assert.equal(stopped.failed_again, 10);
assert.equal(stopped.remaining, total - 10);

process.stdout.write('repair\n');
await once(process.stdin, 'data');

const plan = await sluice.call('plan_replay', { filter });
assert.equal(plan.total, total);
const started = await sluice.call('execute_replay_plan', { token: plan.token, confirm_count: total, canary: 10, reason: 'the shop is repaired' });
const ended = await sluice.untilOver(started.operation_id);
assert.equal(ended.state, 'finished');
assert.equal(ended.delivered, total);
assert.equal(ended.failed_again + ended.skipped, 0);

const again = await sluice.call('plan_replay', { filter });
assert.equal(again.total, 0);
assert.equal(again.token, null);
assert.equal((await sluice.call('list_failure_clusters')).groups.length, 0);
await sluice.close();
process.stdin.unref();
