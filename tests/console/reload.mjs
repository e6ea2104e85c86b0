// A reload during a replay comes back to it, not to the first step; a plan that was not started is still there.
import assert from 'node:assert/strict';
import { button, counted, finished, heading, planInDrawer, reads, sees } from './steps.mjs';

export default async function play({ page, url, picture }) {
  await page.goto(`${url}dlq`);
  await button(page, 'Replay TimeoutError: 10 events').click();
  await planInDrawer(page, '10', 'the provider is back');
  await page.waitForURL(/[?&]op=/);
  await page.reload();
  const drawer = page.getByRole('dialog');
  await drawer.getByLabel('Reason').fill('the provider is back');
  await drawer.getByLabel('Canary').fill('2');
  await drawer.getByLabel('Rate, per second').fill('1');
  await drawer.getByRole('button', { name: 'Replay 10 events' }).click();
  await drawer.locator('.badge', { hasText: 'running' }).waitFor();

  await page.reload();
  await drawer.locator('.badge', { hasText: 'running' }).waitFor();
  assert.equal(await drawer.getByRole('list', { name: 'Steps' }).count(), 0, 'it is not at its first step');
  await drawer.locator('[data-outlook=eta]', { hasText: /^\s*about \d/ }).waitFor();
  await drawer.locator('[data-outlook=pace]', { hasText: 'at most 1' }).waitFor();
  await picture('watching');

  await drawer.getByRole('link', { name: 'Open operation' }).click();
  await heading(page, /^replay of 10$/i).waitFor();
  await page.locator('[data-outlook=phase]', { hasText: 'the canary went well' }).waitFor();
  await picture('operation');
  await page.goBack();
  await finished(page, 'finished');
  await reads(counted(page, 'delivered'), '10');
  await drawer.getByRole('button', { name: 'Done' }).click();
  await sees(page, '20 events');
  assert.equal(new URL(page.url()).search, '', 'nothing of it is left in the address');
}
