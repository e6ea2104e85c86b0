// 8. A draining generation with events left and no worker is flagged.
import { link, reads, sees } from './steps.mjs';

export default async function play({ page, url, picture }) {
  await page.goto(url);
  await reads(page.getByRole('region', { name: 'Needs attention' }), /generation 1/i);
  await page.goto(`${url}generations`);
  const row = page.locator('tr.abandoned');
  await reads(row, '3 left and no worker');
  await reads(row, 'draining');
  await picture('generations');

  await page.getByRole('button', { name: 'Reroute generation 1' }).click();
  await page.getByLabel('Reason').fill('its workers are gone');
  await page.getByRole('dialog').getByRole('button', { name: 'Reroute' }).click();
  await sees(page, 'Generation 1: reroute done.');
  await row.waitFor({ state: 'detached' });
  await link(page.getByRole('navigation', { name: 'Screens' }), 'Audit').click();
  await sees(page, 'its workers are gone');
}
