// 6. 9007199254740993 is shown exactly. 12. A payload and an error with markup stay text.
import assert from 'node:assert/strict';
import { api, heading, sees } from './steps.mjs';

export default async function play({ page, url, picture }) {
  const { events } = await api(page, url, 'v1/dlq/events');
  await page.goto(`${url}events/${events[0].event_id}`);
  await heading(page, 'text.hostile').waitFor();
  const payload = page.getByLabel('Payload text');
  assert.match(await payload.innerText(), /"n": 9007199254740993,/);
  assert.match(await payload.innerText(), /"price": 0\.10000000000000000001,/);
  assert.match(await payload.innerText(), /"note": "<script>window\.taken=1<\/script>"/);
  await sees(page, '<img src=x onerror="window.taken=2">');
  await page.getByRole('button', { name: 'As stored' }).click();
  assert.match(await payload.innerText(), /"n":\s*9007199254740993/);
  await picture('text');

  for (const path of ['dlq', 'dlq/items', `dlq/items?open=${events[0].event_id}`, 'events']) {
    await page.goto(url + path);
    await sees(page, 'onerror=');
  }
  assert.equal(await page.evaluate(() => window.taken), undefined);
}
