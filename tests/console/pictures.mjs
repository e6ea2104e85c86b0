// 10. Every screen in light and dark, and none that axe objects to.
import assert from 'node:assert/strict';
import { AxeBuilder } from '@axe-core/playwright';
import { api, button, planInDrawer } from './steps.mjs';

async function objections(page, name) {
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']).analyze();
  return violations.map(({ id, nodes }) => `${name}: ${id}: ${nodes[0].html}`);
}

export default async function play({ page, url, open, picture }) {
  const { events } = await api(page, url, 'v1/dlq/events');
  const [first] = events;
  // What says that the screen has its data.
  const screens = {
    groups: ['dlq', 'tbody tr'],
    items: [`dlq/items?open=${first.event_id}&sel=${first.event_id}`, 'aside pre'],
    event: [`events/${first.event_id}`, 'pre'],
    events: ['events', 'tbody tr'],
    operations: ['operations', 'main .card'],
    generations: ['generations', 'tbody tr'],
    workers: ['workers', 'tbody tr'],
    sinks: ['sinks', 'tbody tr'],
    storage: ['storage', '.facts'],
    audit: ['audit', 'main .card'],
    nowhere: ['nowhere', 'h1'],
    // Last: a chart needs two points, and the daemon adds one every ten seconds.
    overview: ['', 'canvas'],
  };
  const all = [];
  for (const colorScheme of ['light', 'dark']) {
    const themed = await open({ colorScheme });
    for (const [name, [path, sign]] of Object.entries(screens)) {
      await themed.goto(url + path);
      await themed.locator(sign).first().waitFor();
      assert.equal(await themed.evaluate(() => document.documentElement.dataset.theme), colorScheme);
      await picture(`${name}-${colorScheme}`, themed);
      all.push(...(await objections(themed, `${name} ${colorScheme}`)));
    }
    await themed.goto(`${url}dlq`);
    await button(themed, /^Replay TimeoutError/).click();
    await planInDrawer(themed, 'events', 'the provider is back');
    await picture(`drawer-${colorScheme}`, themed);
    all.push(...(await objections(themed, `drawer ${colorScheme}`)));
    await themed.keyboard.press('Escape');
    await themed.keyboard.press('?');
    await themed.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await picture(`help-${colorScheme}`, themed);
    all.push(...(await objections(themed, `help ${colorScheme}`)));
  }
  assert.deepEqual(all, []);
}
