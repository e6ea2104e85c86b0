// 9. Discard, then restore.
import { api, button, reads, sees } from './steps.mjs';

export default async function play({ page, url }) {
  const { events } = await api(page, url, 'v1/dlq/events');
  await page.goto(`${url}events/${events[0].event_id}`);
  const state = page.getByRole('main').locator('.screen-head .badge');
  await reads(state, 'failed');
  await button(page, 'Discard…').click();
  await page.getByLabel('Reason').fill('a test order');
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  await reads(state, 'discarded');
  await sees(page, 'a test order');
  await button(page, 'Replay…').waitFor({ state: 'detached' });

  await button(page, 'Restore…').click();
  await page.getByLabel('Reason').fill('it was real');
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
  await reads(state, 'failed');
  await button(page, 'Replay…').waitFor();
  await page.goto(`${url}audit?event_id=${events[0].event_id}`);
  await sees(page, 'it was real');
}
