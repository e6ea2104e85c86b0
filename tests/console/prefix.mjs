// 7. Below a path prefix, with the content security policy on: every screen, by link and by address, without a
// complaint on the page's console.
import assert from 'node:assert/strict';
import { heading, link, sees } from './steps.mjs';

export default async function play({ page, url }) {
  assert.equal(new URL(url).pathname, '/ops/sluice/');
  const outside = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) outside.push(request.url());
  });
  const start = await page.goto(url);
  const policy = (await start.allHeaders())['content-security-policy'];
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.doesNotMatch(policy, /unsafe/);

  const titles = ['Dead letters', 'Operations', 'Events', 'Generations', 'Workers', 'Sinks', 'Storage', 'Audit', 'Overview'];
  for (const title of titles) {
    await link(page.getByRole('navigation', { name: 'Screens' }), title).click();
    await heading(page.getByRole('main'), title).first().waitFor();
    await page.reload();
    await heading(page.getByRole('main'), title).first().waitFor();
    assert.ok(page.url().startsWith(url), page.url());
  }
  await page.goto(`${url}dlq/items`);
  await page.locator('a.open').first().click();
  await heading(page, /^outage/).waitFor();
  await page.goto(`${url}nowhere`);
  await sees(page, 'There is no screen at /nowhere');
  assert.deepEqual(outside, [], 'requests outside of the prefix');
}
