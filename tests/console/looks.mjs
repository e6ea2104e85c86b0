// What holds for every picture: axe has no objection, and the page does not scroll sideways.
import { AxeBuilder } from '@axe-core/playwright';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
export const sizes = { 1400: { width: 1400, height: 900 }, 420: { width: 420, height: 860 } };

/** What is wrong with the page as it is; what scrolls does so by itself. */
export async function faults(page, name) {
  const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze();
  const { scroll, width } = await page.evaluate(() => ({
    scroll: document.documentElement.scrollWidth,
    width: document.documentElement.clientWidth,
  }));
  const wide = scroll > width ? [`${name}: ${scroll} px wide on a screen of ${width}`] : [];
  return [...violations.map(({ id, nodes }) => `${name}: ${id}: ${nodes[0].html}`), ...wide];
}

/** The same in light and dark, wide and narrow, without loading the page again. */
export async function inEveryLook(page, name, picture) {
  const before = page.viewportSize();
  const all = [];
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await page.waitForFunction((theme) => document.documentElement.dataset.theme === theme, colorScheme);
      await picture(`${name}-${colorScheme}-${size}`, page);
      all.push(...(await faults(page, `${name} ${colorScheme} ${size}`)));
    }
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize(before);
  return all;
}
