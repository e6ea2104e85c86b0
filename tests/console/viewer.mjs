// 4. A viewer sees everything and can change nothing: there are no buttons, and the API answers 403.
import assert from 'node:assert/strict';
import { inEveryLook } from './looks.mjs';
import { api, button, heading, sees } from './steps.mjs';

const change = /Replay|Discard|Restore|Acknowledge|Reopen|Allocate|Activate|Drain|Retire|Reroute|Test|Pause…|Resume…/;

export default async function play({ page, url, picture }) {
  await page.goto(`${url}dlq`);
  await page.getByLabel('Token').fill('not a token');
  await button(page, 'Sign in').click();
  await sees(page, 'does not know this token');
  assert.deepEqual(await inEveryLook(page, 'sign-in', picture), []);
  await page.getByLabel('Token').fill('viewer-token');
  await button(page, 'Sign in').click();
  await heading(page, 'Dead letters').waitFor();
  await sees(page, 'viewer');

  const { events } = await api(page, url, 'v1/dlq/events', 'viewer-token');
  const id = events[0].event_id;
  const content = page.getByRole('main');
  const screens = { dlq: 'TimeoutError', 'dlq/items': 'outage.a', [`events/${id}`]: 'Timeline', operations: 'No operation yet', generations: 'implicit', sinks: 'log' };
  for (const [path, sign] of Object.entries(screens)) {
    await page.goto(url + path);
    await content.getByText(sign).first().waitFor();
    assert.equal(await content.getByRole('button', { name: change }).count(), 0, `buttons on ${path}`);
    assert.equal(await content.getByRole('checkbox', { name: /^Select/ }).count(), 0, `boxes on ${path}`);
  }
  await page.goto(`${url}dlq/items?filter=type%3Aoutage.a`);
  await sees(page, '2 match');
  for (const path of ['dlq?do=replay', 'dlq/items?do=replay&sel=all', `events/${id}?do=discard`]) {
    await page.goto(url + path);
    await content.getByText(/outage\./).first().waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0, `${path} does not open the drawer either`);
  }
  await picture('viewer');

  const headers = { authorization: 'Bearer viewer-token', 'content-type': 'application/json' };
  const bodies = {
    'v1/plans': { kind: 'replay', all: true },
    [`v1/events/${id}/replay`]: { reason: 'x' },
    [`v1/events/${id}/discard`]: { reason: 'x' },
    'v1/dlq/acknowledge': { fingerprint: events[0].fingerprint, reason: 'x' },
    'v1/generations': { reason: 'x' },
    'v1/sinks/log/pause': { reason: 'x' },
  };
  for (const [path, data] of Object.entries(bodies)) {
    assert.equal((await page.request.post(url + path, { headers, data })).status(), 403, path);
  }
  assert.equal((await page.request.get(`${url}v1/dlq/events`)).status(), 401, 'without a token');
  assert.equal(await page.evaluate(() => Object.keys(localStorage).join().includes('token')), false, 'it is kept for the tab only');
}
