// The charts are about everything, or about one handler, event type or sink; the address keeps the choice.
import assert from 'node:assert/strict';
import { AxeBuilder } from '@axe-core/playwright';
import { api, button } from './steps.mjs';

const numbers = (cells) => cells.map(Number).filter((value) => value > 0);

// What the table of a chart has in its first column of values.
async function tableOf(page, title) {
  const chart = page.getByRole('region', { name: title, exact: true });
  await button(chart, 'Table').click();
  return numbers(await chart.locator('tbody td:nth-child(2)').allInnerTexts());
}

export default async function play({ page, url, picture }) {
  await page.goto(url);
  const choice = page.getByRole('combobox', { name: 'Charts of' });
  await choice.locator('optgroup[label="Event types"] option', { hasText: 'hello.world' }).waitFor({ state: 'attached' });
  assert.deepEqual(await choice.locator('optgroup').evaluateAll((groups) => groups.map(({ label }) => label)), [
    'Handlers',
    'Event types',
    'Sinks',
  ]);
  await page.getByRole('heading', { name: 'Backlog and lag' }).waitFor();

  await choice.selectOption('type:hello.world');
  assert.match(page.url(), /of=type%3Ahello\.world/);
  await page.getByRole('heading', { name: 'Backlog and lag' }).waitFor({ state: 'detached' });
  assert.deepEqual(await tableOf(page, 'Events hello.world, per minute'), [3]);
  await page.reload();
  await page.getByRole('heading', { name: 'Latency of first attempts of hello.world, occurred to delivered' }).waitFor();
  assert.equal(await choice.inputValue(), 'type:hello.world');

  const { series } = await api(page, url, 'v1/history?kind=handler');
  const [{ name }] = series;
  await choice.selectOption(`handler:${name}`);
  assert.deepEqual(await tableOf(page, `Runs of ${name}, per minute`), [3]);
  await choice.selectOption('sink:log');
  await page.getByRole('heading', { name: 'How long a delivery to log took' }).waitFor();
  const { violations } = await new AxeBuilder({ page }).analyze();
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), []);
  await picture('charts');

  // Of something that has delivered nothing in this time it says so, and keeps the choice.
  await page.goto(`${url}?of=sink:gone`);
  assert.equal(await choice.inputValue(), 'sink:gone');
  await page.goBack();
  await page.getByRole('heading', { name: 'How long a delivery to log took' }).waitFor();
  await choice.selectOption('');
  await page.getByRole('heading', { name: 'Backlog and lag' }).waitFor();
}
