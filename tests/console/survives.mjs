// 5. The filter survives an action, back and reload; the selection survives a reload.
import assert from 'node:assert/strict';
import { button, heading, reads, sees } from './steps.mjs';

const filter = 'type:outage.a text:"did not answer"';

export default async function play({ page, url }) {
  const isKept = async (what) => {
    assert.equal(new URL(page.url()).searchParams.get('filter'), filter, what);
    assert.equal(await page.getByLabel('Filter', { exact: true }).inputValue(), filter, what);
  };

  await page.goto(`${url}dlq/items`);
  await page.getByLabel('Filter', { exact: true }).fill(filter);
  await page.keyboard.press('Enter');
  await sees(page, '20 match');
  await isKept('typed');

  await page.locator('tbody input[type=checkbox]').first().check();
  await page.reload();
  await reads(page.getByRole('region', { name: 'Selection' }), '1 selected');
  await isKept('after a reload');

  await button(page, 'Discard…').click();
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('button', { name: 'Dry run' }).click();
  await drawer.getByRole('button', { name: 'Continue' }).click();
  await drawer.getByLabel('Reason').fill('bad import');
  await drawer.getByRole('button', { name: 'Discard 1 event' }).click();
  await drawer.locator('.badge', { hasText: 'finished' }).waitFor();
  await drawer.getByRole('button', { name: 'Done' }).click();
  await sees(page, '19 match');
  await isKept('after an action');

  await page.locator('a.open').first().click();
  await heading(page, 'outage.a').waitFor();
  await page.goBack();
  await sees(page, '19 match');
  await isKept('after back');

  await page.getByLabel('Filter', { exact: true }).fill('nonsense');
  await page.keyboard.press('Enter');
  await sees(page, 'is not a filter');
  await page.goto(`${url}dlq/items?filter=gen%3Anone`);
  await sees(page, 'The filter was not understood');
}
