// 2. The canary fails: the replay stops by itself, and nothing else was touched.
import { counted, finished, link, planInDrawer, reads, sees } from './steps.mjs';

export default async function play({ page, url, picture }) {
  await page.goto(`${url}dlq`);
  await page.getByRole('button', { name: 'Replay TimeoutError: 20 events' }).click();
  const drawer = await planInDrawer(page, '20 events', 'is it back?');
  await drawer.getByLabel('Canary').fill('5');
  await drawer.getByRole('button', { name: 'Replay 20 events' }).click();
  await finished(page, 'stopped');
  await reads(counted(drawer, 'failed again'), '5');
  await reads(counted(drawer, 'delivered'), '0');
  await reads(counted(drawer, 'remaining'), '15');
  await picture('canary-stopped');

  await link(drawer, 'Open operation').click();
  await sees(page, 'is it back?');
  await reads(counted(page, 'remaining'), '15');
}
