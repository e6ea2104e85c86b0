// A sink is tested, paused and resumed; while it is paused the overview says so.
import { button, reads, sees } from './steps.mjs';

export default async function play({ page, url }) {
  await page.goto(`${url}sinks`);
  const row = page.getByRole('row', { name: /log/ }).last();
  await reads(row.locator('.badge'), 'active');
  await button(row, 'Test log').click();
  await sees(page, /^log: handled in/);
  for (const [verb, state] of [['Pause', 'paused'], ['Resume', 'active']]) {
    await button(row, `${verb} log`).click();
    await page.getByLabel('Reason').fill('a rehearsal');
    await button(page.getByRole('dialog'), verb).click();
    await reads(row.locator('.badge'), state);
    if (state === 'paused') {
      await sees(row, /a rehearsal/);
      await page.goto(`${url}`);
      await sees(page, /sink log .* is paused by /);
      await page.goto(`${url}sinks`);
    }
  }
}
