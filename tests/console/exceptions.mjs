// 3. Select all that match, but three.
import assert from 'node:assert/strict';
import { api, button, counted, finished, planInDrawer, reads, sees } from './steps.mjs';

export default async function play({ page, url, picture }) {
  await page.goto(`${url}dlq/items?filter=type%3Aoutage.*`);
  await page.getByLabel('Select this page').check();
  await button(page, 'Select all 60 matching').click();
  await sees(page, '60 matching selected');

  const kept = [];
  for (const row of [1, 4, 7]) {
    const box = page.locator('tbody input[type=checkbox]').nth(row);
    kept.push((await box.getAttribute('aria-label')).split(' ').at(-1));
    await box.uncheck();
  }
  await reads(page.getByRole('region', { name: 'Selection' }), '57 matching selected, without 3 exceptions');
  await picture('exceptions');
  await page.reload();
  await reads(page.getByRole('region', { name: 'Selection' }), '57 matching selected, without 3 exceptions');

  await button(page, 'Replay…').click();
  const drawer = await planInDrawer(page, '57 events', 'all but the three that we look at');
  await drawer.getByRole('button', { name: 'Replay 57 events' }).click();
  await finished(page, 'finished');
  await reads(counted(drawer, 'delivered'), '57');
  await drawer.getByRole('button', { name: 'Done' }).click();

  await sees(page, '3 match');
  const left = await api(page, url, 'v1/dlq/events');
  assert.deepEqual(left.events.map((event) => event.event_id).sort(), kept.sort());
}
