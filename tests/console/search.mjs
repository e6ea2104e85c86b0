// Finding one order: by a value of its payload, by its trace, oldest first, by a saved filter; local time beside UTC.
import assert from 'node:assert/strict';
import { AxeBuilder } from '@axe-core/playwright';
import { button, link, sees } from './steps.mjs';

const rows = (page) => page.locator('tbody tr');

async function search(page, filter) {
  await page.getByLabel('Filter', { exact: true }).fill(filter);
  await page.getByLabel('Filter', { exact: true }).press('Enter');
}

async function isClean(page, what) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  assert.deepEqual(
    violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`),
    [],
    what,
  );
}

export default async function play({ url, open, picture }) {
  const page = await open({ timezoneId: 'Europe/Warsaw' });
  await page.goto(`${url}events`);
  await rows(page).nth(2).waitFor();
  await sees(page, /Times are local \(GMT\+[12]\)/);

  await page.getByLabel('Sort').selectOption('oldest');
  await rows(page).first().filter({ hasText: 'order.first' }).waitFor();
  await page.reload();
  await rows(page).first().filter({ hasText: 'order.first' }).waitFor();
  assert.match(page.url(), /sort=oldest/);

  await search(page, 'data.order.id:4711 since:24h');
  await rows(page).filter({ hasText: 'order.second' }).waitFor();
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);

  await page.getByText('Saved filters', { exact: true }).click();
  await page.getByLabel('Save this filter as').fill('two words');
  await button(page, 'Save').click();
  await sees(page, 'name must be');
  await page.getByLabel('Save this filter as').fill('order-4711');
  await page.getByLabel('Save this filter as').press('Enter');
  await button(page, 'order-4711').first().waitFor();
  await isClean(page, 'the menu of saved filters');
  await picture('saved-filters', page);
  await page.keyboard.press('Escape');

  await page.goto(`${url}events`);
  await rows(page).nth(2).waitFor();
  await page.getByText('Saved filters', { exact: true }).click();
  await page.getByRole('button', { name: 'order-4711', exact: true }).click();
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);

  await page.locator('a.open').first().click();
  await sees(page, /\d\d:\d\d:\d\d GMT\+[12]/);
  await sees(page, /\d\d:\d\d:\d\d UTC/);
  await isClean(page, 'an event with both times');
  const trace = await link(page, /^Trace 0af76519/).getAttribute('href');
  assert.equal(trace, 'https://traces.example.com/0af7651916cd43dd8448eb211c80319c');
  await link(page, 'Same trace').click();
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
  assert.match(decodeURIComponent(page.url()), /trace:0af7651916cd43dd8448eb211c80319c/);

  await page.goto(`${url}dlq/items?filter=${encodeURIComponent('data.order.id:4711')}`);
  await sees(page, 'it needs a time range');
  await page.getByText('Saved filters', { exact: true }).click();
  await button(page, 'Remove the saved filter order-4711').click();
  await sees(page, 'No filter is saved yet.');
}
