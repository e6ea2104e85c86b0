// A running replay is watched, paused, resumed, made slower and cancelled.
import { api, button, link, planInDrawer, reads, sees } from './steps.mjs';

// Two of the events that the paused operation still has before it: a second plan says so, also after a reload.
async function planTwoAgain(page, url) {
  const { events } = await api(page, url, 'v1/dlq/events?limit=2');
  await page.goto(`${url}dlq/items?sel=${events.map((event) => event.event_id).join(',')}`);
  await button(page, 'Replay…').click();
  const warning = (await planInDrawer(page, '2 events', 'twice')).getByRole('status');
  await reads(warning, '2 events are also in operation');
  await page.reload();
  await reads(warning, 'Whichever operation comes to an event first changes it');
  const other = page.waitForEvent('popup');
  await link(warning, /^operation/).click();
  await link(await other, 'Operations').waitFor();
  await sees(await other, 'slowly');
  await (await other).close();
}

// A dry run of everything is by filter: it says so before there is a plan.
async function dryRunAgain(page, url) {
  await page.goto(`${url}dlq/items?sel=all`);
  await button(page, 'Replay…').click();
  const drawer = page.getByRole('dialog');
  await button(drawer, 'Dry run').click();
  await reads(drawer.getByRole('status'), 'also in operation');
}

export default async function play({ page, url }) {
  await page.goto(`${url}dlq/items?sel=all`);
  await button(page, 'Replay…').click();
  const drawer = await planInDrawer(page, '30 events', 'slowly');
  await drawer.getByLabel('Rate').fill('1');
  await drawer.getByLabel('Canary').fill('0');
  await drawer.getByRole('button', { name: 'Replay 30 events' }).click();
  await drawer.getByRole('button', { name: 'Leave it running' }).click();

  await link(page.getByRole('navigation', { name: 'Screens' }), /Operations/).click();
  const running = page.getByRole('region', { name: 'Under way' });
  await button(running, 'Pause').click();
  await reads(running.locator('.badge'), 'paused');
  await planTwoAgain(page, url);
  await dryRunAgain(page, url);
  await page.goto(`${url}operations`);
  await button(running, 'Rate').click();
  await running.getByLabel('Per second').fill('2');
  await button(running, 'Set').click();
  await button(running, 'Resume').click();
  await reads(running.locator('.badge'), 'running');
  await button(running, 'Cancel…').click();
  await page.getByLabel('Reason').fill('it takes too long');
  await button(page.getByRole('dialog'), 'Cancel operation').click();
  const past = page.getByRole('region', { name: 'Past and planned' });
  await reads(past.locator('.badge'), 'cancelled');

  await link(past, 'replay of 30').click();
  await sees(page, '2 per second');
  await page.goto(`${url}audit?action=operation.cancel`);
  await sees(page, 'it takes too long');
}
