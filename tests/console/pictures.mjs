// 10. Every screen in light and dark, wide and narrow, and none that axe objects to.
import assert from 'node:assert/strict';
import { api, button, heading, planInDrawer, reads } from './steps.mjs';
import { faults, inEveryLook, sizes } from './looks.mjs';

async function screensOf(page, url) {
  const { events } = await api(page, url, 'v1/dlq/events');
  const { operations } = await api(page, url, 'v1/operations');
  const [first] = events;
  // What says that the screen has its data.
  return {
    groups: ['dlq', 'tbody tr'],
    group: [`dlq/groups/${first.fingerprint}`, '.bars'],
    wall: ['wall', '.figures'],
    items: [`dlq/items?open=${first.event_id}&sel=${first.event_id}`, 'aside pre'],
    event: [`events/${first.event_id}`, 'pre'],
    events: ['events', 'tbody tr'],
    operations: ['operations', 'main .card'],
    operation: [`operations/${operations[0].operation_id}`, 'tbody tr'],
    generations: ['generations', 'tbody tr'],
    workers: ['workers', 'tbody tr'],
    sinks: ['sinks', 'tbody tr'],
    storage: ['storage', '[aria-label=Ladder] tbody tr'],
    audit: ['audit', 'main .card'],
    nowhere: ['nowhere', 'h1'],
    'no-event': ['events/abc', '[role=alert]'],
    // Last: a chart needs two points, and the daemon adds one every ten seconds.
    overview: ['', 'canvas'],
  };
}

async function dialogs(page, name, { url, picture }) {
  const all = [];
  await page.goto(`${url}dlq`);
  await button(page, /^Replay TimeoutError/).click();
  await planInDrawer(page, 'events', 'the provider is back');
  await picture(`drawer-${name}`, page);
  all.push(...(await faults(page, `drawer ${name}`)));
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await picture(`help-${name}`, page);
  return [...all, ...(await faults(page, `help ${name}`))];
}

// What can be done to one event, and the menus: opened once, seen in light and dark, wide and narrow.
async function actions(page, { url, picture }) {
  const find = async (path) => (await api(page, url, path)).events[0].event_id;
  const dead = await find('v1/dlq/events');
  const later = await find('v1/events?filter=type:pictures.later');
  const delivered = await find('v1/events?filter=type:pictures.now');
  const all = [];
  const dialogs = { [later]: ['run_now', 'reschedule', 'cancel'], [delivered]: ['resend'], [dead]: ['replay_to', 'edit_replay'] };
  for (const [id, kinds] of Object.entries(dialogs)) {
    for (const kind of kinds) {
      await page.goto(`${url}events/${id}?do=${kind}`);
      await page.getByRole('dialog').waitFor();
      all.push(...(await inEveryLook(page, kind, picture)));
    }
  }
  await page.goto(`${url}dlq`);
  await button(page, 'Acknowledge…').first().click();
  await page.getByRole('dialog').waitFor();
  all.push(...(await inEveryLook(page, 'acknowledge', picture)));
  await page.goto(`${url}events?filter=type:outage.*`);
  for (const menu of ['Saved filters', 'Columns']) {
    await page.locator('summary', { hasText: menu }).click();
    all.push(...(await inEveryLook(page, menu, picture)));
    await page.keyboard.press('Escape');
  }
  return all;
}

async function runningOperation(page, { url, picture }) {
  const post = async (path, data) => (await page.request.post(url + path, { data })).json();
  const { operation_id, total } = await post('v1/plans', { filter: 'type:outage.a' });
  await post(`v1/operations/${operation_id}/start`, { count: total, rate: 1, reason: 'the provider is back' });
  await post(`v1/operations/${operation_id}/pause`, {});
  await page.goto(`${url}operations/${operation_id}`);
  await heading(page, /^replay of/i).waitFor();
  await reads(page.locator('.badge'), 'paused');
  return inEveryLook(page, 'paused', picture);
}

export default async function play({ page, url, open, picture }) {
  const screens = await screensOf(page, url);
  const all = [];
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ['light', 'dark']) {
      const look = `${colorScheme}-${size}`;
      const themed = await open({ colorScheme, viewport });
      for (const [name, [path, sign]] of Object.entries(screens)) {
        await themed.goto(url + path);
        await themed.locator(sign).first().waitFor();
        assert.equal(await themed.evaluate(() => document.documentElement.dataset.theme), colorScheme);
        await picture(`${name}-${look}`, themed);
        all.push(...(await faults(themed, `${name} ${look}`)));
      }
      all.push(...(await dialogs(themed, look, { url, picture })));
    }
  }
  all.push(...(await actions(page, { url, picture })), ...(await runningOperation(page, { url, picture })));
  assert.deepEqual(all, []);
}
