// A group is acknowledged, comes back, and says so.
import { button, reads } from './steps.mjs';

export default async function play({ page, url, ask, picture }) {
  await page.goto(`${url}dlq`);
  const row = page.getByRole('row', { name: /TimeoutError/ });
  await reads(row.locator('.badge'), 'open');
  await button(row, 'Acknowledge…').click();
  await page.getByLabel('Reason').fill('the provider knows');
  await button(page.getByRole('dialog'), 'Acknowledge').click();
  await reads(row.locator('.badge'), 'acknowledged');

  await ask('more');
  await reads(row.locator('.badge'), 'came back');
  await picture('came-back');
  await button(row, 'Reopen…').click();
  await page.getByLabel('Reason').fill('not mended after all');
  await button(page.getByRole('dialog'), 'Reopen').click();
  await reads(row.locator('.badge'), 'open');
}
