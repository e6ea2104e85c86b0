// A list carries no payloads, the event does; and the page says so when it shows one differently.
import assert from 'node:assert/strict';
import { button, sees } from './steps.mjs';

const mostBytes = 200_000;

export default async function play({ page, url }) {
  for (const path of ['v1/events', 'v1/dlq/events']) {
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname.endsWith(path));
    await page.goto(url + (path === 'v1/events' ? 'events' : 'dlq/items'));
    const response = await answered;
    await page.locator('tbody tr').nth(49).waitFor();
    const { responseBodySize, responseHeadersSize } = await response.request().sizes();
    const bytes = responseBodySize + responseHeadersSize;
    console.log(`50 rows of ${path}: ${bytes} bytes`);
    assert.ok(bytes < mostBytes, `${bytes} bytes for 50 rows of ${path}`);
    assert.equal(response.headers()['content-encoding'], 'gzip');
  }
  await page.locator('a.open').first().click();
  await sees(page, 'laid out without colours');
  const text = page.locator('pre');
  assert.match(await text.innerText(), /^\{\n {2}"name": "zażółć",\n {2}"n": 9007199254740993,/);
  await button(page, 'As stored').click();
  await text.filter({ hasText: 'za\\u017c' }).waitFor();
  assert.equal(await page.getByText('laid out without colours').count(), 0);
}
