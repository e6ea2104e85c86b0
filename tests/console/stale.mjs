// A daemon that does not answer: what is on the screen is marked as old, and comes back to life by itself.
import assert from 'node:assert/strict';
import { inEveryLook } from './looks.mjs';
import { sees } from './steps.mjs';

const mark = (page) => page.locator('.live .state');

export default async function play({ page, url, ask, picture }) {
  await page.addInitScript(() => localStorage.setItem('sluice.live', '2'));
  await page.goto(url);
  await mark(page).filter({ hasText: 'Live' }).waitFor();
  await sees(page, 'Backlog');
  const colour = () => page.locator('.tiles strong').first().evaluate((tile) => getComputedStyle(tile).color);
  const fresh = await colour();

  await ask('stop');
  await mark(page).filter({ hasText: /^\s*Stale since \d\d:\d\d:\d\d\s*$/ }).waitFor();
  await sees(page, 'Connection problem');
  assert.notEqual(await colour(), fresh, 'the figures are dimmed');
  assert.equal(await mark(page).filter({ hasText: 'Live' }).count(), 0);
  assert.deepEqual(await inEveryLook(page, 'stale', picture), []);

  await ask('start');
  await mark(page).filter({ hasText: 'Live' }).waitFor();
  assert.equal(await colour(), fresh, 'the figures are themselves again');
  assert.equal(await page.locator('.stale').count(), 0);

  // It hangs: it takes requests and answers none.
  await ask('hang');
  await mark(page).filter({ hasText: 'Stale since' }).waitFor();
  await ask('go on');
  await mark(page).filter({ hasText: 'Live' }).waitFor();
}
