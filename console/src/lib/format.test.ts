import { expect, it } from 'vitest';
import {
  bytes,
  capped,
  count,
  duration,
  exact,
  label,
  local,
  perMinute,
  percent,
  plural,
  relative,
  sentence,
  shortId,
} from './format';

it.each([
  [0, '0 s'],
  [0.2, '< 1 s'],
  [59, '59 s'],
  [60, '1 min'],
  [125, '2 min 5 s'],
  [3600, '1 h'],
  [3605, '1 h'],
  [90_061, '1 d 1 h'],
])('duration(%d) is %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});

it('says how long ago, and how soon', () => {
  const now = Date.parse('2026-05-28T20:30:00Z');
  expect(relative('2026-05-28T20:26:40.000000Z', now)).toBe('3 min ago');
  expect(relative('2026-05-28T20:30:30Z', now)).toBe('in 30 s');
  expect(relative('2026-05-28T20:30:00Z', now)).toBe('now');
});

it('shows a capped count as a lower bound', () => {
  expect(capped(10_000, true)).toBe('≥ 10,000');
  expect(capped(4_999, false)).toBe('4,999');
});

it('shows what is unknown as a dash', () => {
  expect([count(null), percent(undefined), duration(null)]).toEqual(['–', '–', '–']);
});

it('writes sizes, times, ids and nouns', () => {
  expect(bytes(1_234_567)).toBe('1.2 MB');
  expect(exact('2026-05-28T20:26:40.123456Z')).toBe('2026-05-28 20:26:40');
  expect(shortId('0196b2f1-7c1e-7a3b-9d2e-000000000004')).toBe('0196b2f1…0004');
  expect(plural(1, 'event')).toBe('1 event');
  expect(plural(5000, 'event')).toBe('5,000 events');
  expect(label('oldest_age_seconds')).toBe('Oldest age');
  expect(label('event_handled')).toBe('Dedup records');
});

it('makes a sentence of words', () => {
  expect(sentence('nothing is due')).toBe('Nothing is due.');
  expect(sentence('Done.')).toBe('Done.');
  expect(sentence('')).toBe('');
});

it('tells counts per minute', () => {
  expect(perMinute([300, null, 0], 300)).toEqual([60, null, 0]);
});

it('shows the time of a zone, and nothing where that is UTC', () => {
  expect(local('2026-05-28T22:26:40.123456Z', 'Europe/Warsaw')).toBe('2026-05-29 00:26:40 GMT+2');
  expect(local('2026-01-28T12:00:00Z', 'America/New_York')).toBe('2026-01-28 07:00:00 GMT-5');
  expect(local('2026-05-28T22:26:40Z', 'UTC')).toBeNull();
});
