// Run now, reschedule, cancel, restore, send again, replay to one handler, acknowledge, sort, keep a filter: all by keyboard.
import { api, because, press, reads, sees, tabTo } from './steps.mjs';

async function oneDeadLetter(page, url, state) {
  const { events } = await api(page, url, 'v1/dlq/events');
  await page.goto(`${url}events/${events[0].event_id}`);
  await press(page, 'Replay to one handler…');
  await tabTo(page, page.getByRole('dialog').getByLabel('Handler', { exact: true }));
  await because(page, 'this one alone');
  await reads(state, 'delivered');

  await page.goto(`${url}dlq/groups/${events[1].fingerprint}`);
  await press(page, 'Acknowledge…');
  await because(page, 'known to everybody');
  await reads(state, 'acknowledged');
}

async function oneFilter(page, url) {
  const { keyboard } = page;
  await page.goto(`${url}events`);
  await tabTo(page, page.getByLabel('Sort'));
  await keyboard.press('ArrowDown');
  await page.waitForURL(/sort=oldest/);
  await tabTo(page, page.getByLabel('Filter', { exact: true }));
  await keyboard.type('type:hands.*');
  await keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove type:hands.*' }).waitFor();
  await keyboard.press('Escape');
  await tabTo(page, page.locator('summary', { hasText: 'Saved filters' }));
  await keyboard.press('Enter');
  await tabTo(page, page.getByLabel('Save this filter as'));
  await keyboard.type('hands');
  await keyboard.press('Enter');
  await page.getByRole('button', { name: 'hands', exact: true }).waitFor();

  await page.goto(`${url}events`);
  await tabTo(page, page.locator('summary', { hasText: 'Saved filters' }));
  await keyboard.press('Enter');
  await tabTo(page, page.getByRole('button', { name: 'hands', exact: true }));
  await keyboard.press('Enter');
  await page.waitForURL(/filter=type%3Ahands/);
}

export default async function play({ page, url, picture }) {
  const find = async (type) => (await api(page, url, `v1/events?filter=type:${type}`)).events[0].event_id;
  const state = page.getByRole('main').locator('.screen-head .badge');

  await page.goto(`${url}events/${await find('hands.later')}`);
  await reads(state, 'scheduled');
  await sees(page, 'scheduled for');
  await press(page, 'Reschedule…');
  await tabTo(page, page.getByRole('dialog').getByLabel('When'));
  await page.keyboard.type('2h');
  await picture('reschedule');
  await because(page, 'after the maintenance');
  await sees(page, 'after the maintenance');
  await press(page, 'Cancel event…');
  await because(page, 'withdrawn');
  await reads(state, 'cancelled');
  await press(page, 'Restore…');
  await because(page, 'not withdrawn');
  await reads(state, 'scheduled');
  await press(page, 'Run now…');
  await because(page, 'the maintenance is over');
  await reads(state, 'delivered');

  await press(page, 'Send again…');
  await tabTo(page, page.getByRole('dialog').getByLabel('Handler', { exact: true }));
  await because(page, 'the receiver lost it');
  await reads(state, 'delivered');
  await sees(page, 'the receiver lost it');

  await oneDeadLetter(page, url, state);
  await oneFilter(page, url);
}
