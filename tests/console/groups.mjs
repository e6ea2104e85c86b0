// The page of a group: when it failed, samples, notes, who acknowledged it, and that it came back; by keyboard too.
import assert from 'node:assert/strict';
import { button, heading, reads, sees } from './steps.mjs';

const notes = (page) => page.getByRole('region', { name: 'Notes' });

export default async function play({ page, url, ask, open, picture }) {
  await page.goto(`${url}dlq`);
  await page.locator('a.open').first().waitFor();
  // From the list by keyboard: the first row, then its page.
  await page.keyboard.press('j');
  await page.keyboard.press('i');
  await page.waitForURL(/dlq\/groups\/[0-9a-f]{16}$/);
  await heading(page, /Error$/).waitFor();
  assert.equal(await page.locator('nav [aria-current=page]').innerText().then((text) => text.includes('Dead letters')), true);

  const chart = page.getByRole('region', { name: 'Failures over time' });
  await chart.getByRole('button', { name: 'Table' }).click();
  const counted = await chart.locator('tbody td.number').allInnerTexts();
  const shown = Number.parseInt(await page.getByRole('main').getByRole('link', { name: /^\d+ dead letters?$/ }).innerText(), 10);
  assert.equal(counted.reduce((sum, text) => sum + Number(text), 0), shown, 'the bars add up to the dead letters');
  await chart.getByRole('button', { name: 'Table' }).click();
  assert.equal(await page.getByRole('region', { name: 'Sample events' }).getByRole('listitem').count(), shown);

  await page.getByLabel('Add a note').focus();
  await page.keyboard.type('<b>ticket</b> 4711');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await reads(notes(page).getByRole('listitem'), '<b>ticket</b> 4711');
  await button(page, 'Acknowledge…').click();
  await page.getByRole('dialog').getByLabel('Reason').fill('the provider works on it');
  await page.keyboard.press('Enter');
  await reads(notes(page).getByRole('listitem'), 'acknowledged');
  await sees(page, /Acknowledged .* by ann@shop/);

  await ask('more');
  await sees(page, /Came back in generation 1: 1 failure since/);
  await picture('group');
  const narrow = await open({ viewport: { width: 420, height: 860 }, colorScheme: 'dark' });
  await narrow.goto(page.url());
  await reads(notes(narrow).getByRole('listitem'), 'ticket');
  await picture('group-narrow', narrow);

  await page.goto(`${url}dlq/groups/ffffffffffffffff`);
  await sees(page, 'nothing ever failed with the fingerprint');
}
