// The wall: read from across a room, by whoever may only look.
import assert from 'node:assert/strict';
import { api, button } from './steps.mjs';

export default async function play({ page, url, picture }) {
  await page.goto(`${url}wall`);
  await page.getByLabel('Token').fill('viewer-token');
  await button(page, 'Sign in').click();
  const figures = page.getByRole('list', { name: 'Now' });
  await figures.waitFor();
  const { tiles } = await api(page, url, 'v1/overview', 'viewer-token');
  const figure = (name) => figures.getByRole('listitem').filter({ hasText: name }).locator('strong');
  assert.equal(await figure('Dead letters').innerText(), String(tiles.dead));
  assert.equal(await figure('Backlog').innerText(), String(tiles.backlog));
  for (const name of ['Lag', 'Failed / min', 'Delivered / min']) await figure(name).waitFor();
  await page.getByRole('region', { name: 'Sinks' }).getByText('1 active').waitFor();
  await page.getByRole('region', { name: 'Generations' }).getByText(/^1 /).waitFor();
  await page.getByText('dead letters need review').waitFor();
  const pixels = await figure('Backlog').evaluate((text) => Number.parseFloat(getComputedStyle(text).fontSize));
  assert.ok(pixels >= 60, `figures of ${pixels} px`);
  assert.equal(await page.getByRole('button').count(), 0, 'nothing to press');
  await picture('wall');
}
