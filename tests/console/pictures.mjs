// 10. Every screen in light and dark, wide and narrow, and none that axe objects to.
import assert from 'node:assert/strict';
import { AxeBuilder } from '@axe-core/playwright';
import { api, button, planInDrawer } from './steps.mjs';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const sizes = { 1400: { width: 1400, height: 900 }, 420: { width: 420, height: 860 } };

async function objections(page, name) {
  const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze();
  return violations.map(({ id, nodes }) => `${name}: ${id}: ${nodes[0].html}`);
}

// What scrolls does so by itself: the page never does sideways.
async function overflows(page, name) {
  const { scroll, width } = await page.evaluate(() => ({
    scroll: document.documentElement.scrollWidth,
    width: document.documentElement.clientWidth,
  }));
  return scroll > width ? [`${name}: ${scroll} px wide on a screen of ${width}`] : [];
}

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
  all.push(...(await objections(page, `drawer ${name}`)));
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await picture(`help-${name}`, page);
  return [...all, ...(await objections(page, `help ${name}`))];
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
        all.push(...(await objections(themed, `${name} ${look}`)), ...(await overflows(themed, `${name} ${look}`)));
      }
      all.push(...(await dialogs(themed, look, { url, picture })));
    }
  }
  assert.deepEqual(all, []);
}
