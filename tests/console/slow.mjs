// 11. A database that does not answer gives a banner; what was seen stays, and it goes on by itself.
import { link, sees } from './steps.mjs';

export default async function play({ page, url, ask, picture }) {
  await page.goto(`${url}dlq`);
  await link(page, 'TimeoutError').waitFor();
  await ask('lock');
  await sees(page, /The store is slow to answer|Connection problem/);
  await link(page, 'TimeoutError').waitFor();
  await picture('slow');
  await ask('unlock');
  await page.locator('.banner').waitFor({ state: 'detached' });
  await link(page, 'TimeoutError').waitFor();
}
