// What arrives meanwhile moves no row: it waits behind "3 new – show". With rows selected nothing is refreshed at all.
import assert from 'node:assert/strict';
import { button, sees } from './steps.mjs';

export default async function play({ page, url, ask }) {
  await page.goto(`${url}dlq/items`);
  await page.getByLabel('Refresh every').selectOption('2');
  await sees(page, '3 match');
  const first = () => page.locator('tbody tr').first().locator('[title]').first().getAttribute('title');
  const before = await page.locator('tbody tr').count();
  const top = await first();

  await ask('more');
  await button(page, '3 new – show').waitFor();
  assert.equal(await page.locator('tbody tr').count(), before, 'no row was added');
  assert.equal(await first(), top, 'the first row is where it was');
  await button(page, '3 new – show').click();
  await page.locator('tbody tr').nth(5).waitFor();
  await sees(page, '6 match');

  await page.locator('tbody input[type=checkbox]').first().check();
  await sees(page, 'Paused: rows are selected');
  await button(page, 'Clear').click();
  await sees(page, 'Live');
}
