// A dead letter is replayed with another payload, by keyboard: numbers keep their digits, and the payload before is kept.
import assert from 'node:assert/strict';
import { api, press, reads, sees, tabTo } from './steps.mjs';

const dense = (text) => text.replace(/\s/g, '');

export default async function play({ page, url, picture }) {
  const { events } = await api(page, url, 'v1/dlq/events');
  const id = events[0].event_id;
  const before = await api(page, url, `v1/events/${id}?payload=text`);
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));

  await page.goto(`${url}events/${id}`);
  await press(page, 'Edit and replay…');
  const dialog = page.getByRole('dialog');
  const payload = dialog.getByLabel('Payload');
  await tabTo(page, payload);
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText('{"n":9007199254740993');
  await tabTo(page, dialog.getByLabel('Reason'));
  await page.keyboard.type('a digit was wrong');
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').waitFor();
  await tabTo(page, payload);
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText('}');
  await picture('edit');
  await tabTo(page, dialog.getByRole('button', { name: 'Replay' }));
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });

  await reads(page.getByRole('main').locator('.screen-head .badge'), 'delivered');
  await reads(page.getByLabel('Payload text', { exact: true }), '9007199254740993');
  await reads(page.getByRole('region', { name: 'Audit' }), 'a digit was wrong');
  assert.ok(!asked.some((address) => address.includes('before_replay')), 'the payload before is not fetched');
  await press(page, 'Payload before replay 1');
  const kept = page.getByLabel('Payload before replay 1 text');
  await kept.waitFor();
  assert.equal(dense(await kept.innerText()), dense(before.payload_text));
  await picture('edited');
  await page.goto(`${url}audit`);
  await sees(page, 'a digit was wrong');
}
