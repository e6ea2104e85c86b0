// Small things that were wrong once: where the navigation points, what an unknown id says, links, states, a narrow screen.
import assert from 'node:assert/strict';
import { api, button, heading, planInDrawer, sees } from './steps.mjs';

const marked = (page) => page.locator('nav [aria-current=page]');

async function navigation(page, url) {
  const { events } = await api(page, url, 'v1/dlq/events');
  await page.goto(`${url}events/${events[0].event_id}`);
  await marked(page).filter({ hasText: 'Dead letters' }).waitFor();
  await page.goto(`${url}events`);
  await marked(page).filter({ hasText: 'Events' }).waitFor();
  assert.equal(await marked(page).count(), 1);
  return events[0].event_id;
}

async function unknownIds(page, url) {
  for (const path of ['events/abc', 'operations/abc']) {
    await page.goto(url + path);
    await sees(page, 'No event or operation has such an id');
    assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1, `a heading on ${path}`);
  }
  await page.goto(`${url}events?filter=gen%3Ax%20since%3A24h`);
  await sees(page, 'The filter was not understood');
}

async function links(page, url, id) {
  await page.goto(`${url}events/${id}`);
  await button(page, 'Replay…').click();
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('button', { name: 'Dry run' }).click();
  await drawer.getByRole('button', { name: 'Continue' }).click();
  await drawer.getByLabel('Reason').fill('the provider is back');
  await drawer.getByRole('button', { name: 'Replay 1 event' }).click();
  await drawer.locator('.badge', { hasText: 'finished' }).waitFor();
  await drawer.getByRole('button', { name: 'Done' }).click();
  await page.getByLabel('Timeline').getByRole('link', { name: /^operation / }).first().click();
  await heading(page, /^replay of 1$/i).waitFor();
}

async function states(page, url) {
  const { events } = await api(page, url, 'v1/events?filter=type:later.one');
  await page.goto(`${url}events?filter=type%3Alater.one%20since%3A24h`);
  await page.locator('.badge', { hasText: 'scheduled' }).waitFor();
  await page.goto(`${url}events/${events[0].event_id}`);
  await page.locator('h1 + .badge', { hasText: 'scheduled' }).waitFor();
  await page.getByLabel('Timeline').getByText('Scheduled for').waitFor();
  await sees(page, /scheduled for/);
  assert.equal(await page.getByText(/retry/i).count(), 0, 'nothing has failed');
}

async function narrow(open, url) {
  const page = await open({ viewport: { width: 420, height: 800 } });
  await page.goto(`${url}dlq`);
  const box = await button(page, /^Replay /).first().boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 420, `the Replay button is at ${box.x}`);
  await button(page, /^Replay /).first().click();
  const drawer = await planInDrawer(page, 'event', 'the provider is back');
  for (const field of await drawer.locator('input').all()) {
    const { x, width } = await field.boundingBox();
    assert.ok(x >= 0 && x + width <= 420, `a field of the drawer ends at ${x + width}`);
  }
  await page.keyboard.press('Escape');
  for (const path of ['workers', 'sinks']) {
    await page.goto(url + path);
    await page.locator('tbody tr').first().waitFor();
    // A word of twenty letters fits into a line.
    const narrowest = await page.locator('tbody td:first-child').evaluateAll((cells) => Math.min(...cells.map((cell) => cell.clientWidth)));
    assert.ok(narrowest > 200, `the first column of ${path} is ${narrowest} px wide`);
  }
}

// A shell may have another store than the daemon.
async function commands(page, url, id) {
  const { groups } = await api(page, url, 'v1/dlq/groups');
  const { operations } = await api(page, url, 'v1/operations');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const paths = ['events', 'dlq', 'dlq/items', `events/${id}`, `dlq/groups/${groups[0].fingerprint}`, `operations/${operations[0].operation_id}`];
  for (const path of paths) {
    await page.goto(url + path);
    const copies = button(page, 'Copy as CLI command');
    await copies.first().waitFor();
    for (const copy of await copies.all()) {
      await copy.click();
      await copy.getByText('copied').waitFor({ state: 'attached' });
      assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^sluice .* --store sqlite:/, path);
    }
  }
}

export default async function play({ page, url, open }) {
  const id = await navigation(page, url);
  await unknownIds(page, url);
  await states(page, url);
  await narrow(open, url);
  await links(page, url, id);
  await commands(page, url, id);
}
