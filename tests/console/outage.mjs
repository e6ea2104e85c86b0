// 1. 5,000 dead letters in three groups: group, event, dry run, canary, replay, all delivered.
import assert from 'node:assert/strict';
import { button, counted, finished, heading, link, planInDrawer, reads, sees } from './steps.mjs';

export default async function play({ page, url, picture }) {
  await page.goto(url);
  await reads(page.getByRole('list', { name: 'Now' }).getByRole('link', { name: 'Dead letters' }), '5,000');
  await picture('outage-1-overview');

  await link(page.getByRole('navigation', { name: 'Screens' }), /Dead letters/).click();
  const rows = page.getByRole('region', { name: 'Groups of failures' }).locator('tbody tr');
  await rows.nth(2).waitFor();
  assert.equal(await rows.count(), 3, 'three groups');
  await picture('outage-2-groups');

  await link(rows, 'ConnectionError').click();
  await sees(page, '1,667 match');
  await page.locator('a.open').first().click();
  await heading(page, 'outage.b').waitFor();
  await sees(page, 'connection refused by the warehouse at 10.0.0.7:8443');
  await picture('outage-3-event');

  await page.goBack();
  await sees(page, '1,667 match');
  await button(page, 'Remove type:outage.b').waitFor();
  await button(page, 'Clear all').click();
  await sees(page, '5,000 match');
  await page.getByLabel('Select this page').check();
  await button(page, 'Select all 5,000 matching').click();
  await button(page, 'Replay…').click();

  const drawer = await planInDrawer(page, '5,000 events', 'the provider is back');
  await drawer.getByLabel('Canary').fill('25');
  await picture('outage-4-run');
  await drawer.getByRole('button', { name: 'Replay 5,000 events' }).click();
  await finished(page, 'finished');
  await reads(counted(drawer, 'delivered'), '5,000');
  await reads(counted(drawer, 'failed again'), '0');
  await reads(counted(drawer, 'remaining'), '0');
  await picture('outage-5-done');

  await drawer.getByRole('button', { name: 'Done' }).click();
  await sees(page, 'No dead letters');
}
