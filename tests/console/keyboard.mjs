// 13. The whole of the first story without touching the mouse.
import { counted, finished, heading, link, reads, sees } from './steps.mjs';

export default async function play({ page, url }) {
  const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };

  await page.goto(url);
  await heading(page, 'Overview').waitFor();
  await press('g', 'd');
  await link(page, 'TimeoutError').waitFor();
  await press('j', 'Enter');
  await sees(page, /match/);
  await page.locator('a.open').first().waitFor();
  await press('j', 'j', 'Enter');
  await heading(page, /^outage/).waitFor();
  await sees(page, 'Timeline');

  await press('g', 'd');
  await link(page, 'TimeoutError').waitFor();
  await press('/');
  await page.keyboard.type('type:outage.*');
  await press('Enter', 'Escape');
  await page.getByRole('button', { name: 'Remove type:outage.*' }).waitFor();
  await page.getByRole('link', { name: 'Show as list' }).focus();
  await press('Enter');
  await page.locator('a.open').first().waitFor();
  await press('j', 'x');
  await reads(page.getByRole('region', { name: 'Selection' }), '1 selected');
  await page.getByRole('button', { name: 'Select all 30 matching' }).focus();
  await press('Enter');
  await reads(page.getByRole('region', { name: 'Selection' }), '30 matching selected');
  await press('r');

  // Each step has the focus where Enter goes on.
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('button', { name: 'Dry run' }).waitFor();
  await press('Enter');
  await reads(drawer.locator('.total'), '30 events');
  await press('Enter');
  await drawer.getByLabel('Reason').waitFor();
  await page.keyboard.type('the provider is back');
  await drawer.getByRole('button', { name: 'Replay 30 events' }).waitFor();
  await press('Enter');
  await finished(page, 'finished');
  await reads(counted(drawer, 'delivered'), '30');
  await press('Escape');
  await drawer.waitFor({ state: 'detached' });
  await sees(page, /No dead letter/);
}
