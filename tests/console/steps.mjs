// What several stories do.
import assert from 'node:assert/strict';

export const field = (page, name) => page.getByLabel(name);
export const button = (page, name) => page.getByRole('button', { name });
export const link = (page, name) => page.getByRole('link', { name });
export const heading = (page, name) => page.getByRole('heading', { name });

export function sees(page, text) {
  return page.getByText(text).first().waitFor();
}

/** Waits until the locator's text is this. */
export async function reads(locator, text) {
  await locator.filter({ hasText: text }).first().waitFor();
}

export async function api(page, url, path, token) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const response = await page.request.get(url + path, { headers });
  assert.equal(response.status(), 200, `GET ${path}`);
  return response.json();
}

/** From the drawer's first step to its last: what it says on the way is checked. */
export async function planInDrawer(page, events, reason) {
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('button', { name: 'Dry run' }).click();
  await reads(drawer.locator('.total'), events);
  await drawer.getByRole('button', { name: 'Continue' }).click();
  await drawer.getByLabel('Reason').fill(reason);
  return drawer;
}

/** Presses Tab until the element has the focus, as whoever has no mouse does. */
export async function tabTo(page, target) {
  await target.waitFor();
  for (let presses = 0; presses < 80; ++presses) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not reach ${target}`);
}

/** Presses a button of the screen by keyboard. */
export async function press(page, name) {
  await tabTo(page, page.getByRole('main').getByRole('button', { name }));
  await page.keyboard.press('Enter');
}

/** Gives the reason of a dialog; Enter sends it. */
export async function because(page, reason) {
  await tabTo(page, page.getByRole('dialog').getByLabel('Reason'));
  await page.keyboard.type(reason);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

export const counted = (page, what) => page.locator(`[data-count="${what}"]`);

export async function finished(page, state) {
  await page.getByRole('dialog').locator('.badge', { hasText: state }).waitFor({ timeout: 240_000 });
}
