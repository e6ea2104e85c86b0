// One event that waits, one that was delivered: run now, reschedule, cancel, restore, send again; all by keyboard.
import { api, reads, sees } from './steps.mjs';

async function press(page, name) {
  await page.getByRole('main').getByRole('button', { name }).focus();
  await page.keyboard.press('Enter');
}

// The dialog has the focus in its reason; Enter sends it.
async function because(page, reason) {
  await page.getByLabel('Reason').focus();
  await page.keyboard.type(reason);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

export default async function play({ page, url, picture }) {
  const find = async (type) => (await api(page, url, `v1/events?filter=type:${type}`)).events[0].event_id;
  const state = page.getByRole('main').locator('.screen-head .badge');

  await page.goto(`${url}events/${await find('hands.later')}`);
  await reads(state, 'scheduled');
  await sees(page, 'scheduled for');
  await press(page, 'Reschedule…');
  await page.getByLabel('When').focus();
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
  await page.getByLabel('Handler', { exact: true }).focus();
  await because(page, 'the receiver lost it');
  await reads(state, 'delivered');
  await sees(page, 'the receiver lost it');
}
