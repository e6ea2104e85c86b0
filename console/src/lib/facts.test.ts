import { expect, it } from 'vitest';
import { factText, isGroup } from './facts';

it.each([
  ['wal_bytes', 4_194_304, '4.2 MB'],
  ['bytes', 151_552, '151.6 kB'],
  ['oldest_seconds', 90, '1 min 30 s'],
  ['queue_percent', 12.34, '12.3 %'],
  ['rows', 1_234_567, '1,234,567'],
  ['dry_run', true, 'yes'],
  ['last_vacuum', '2026-05-28T20:26:40.000000Z', '2026-05-28 20:26:40 UTC'],
  ['partitions', [], 'none'],
  ['policy', { active_seconds: 86_400, rows: 3 }, 'active 1 d, rows 3'],
  ['nothing', null, '–'],
])('%s: %j is %s', (name, value, text) => {
  expect(factText(name, value)).toBe(text);
});

it('shows larger facts below each other', () => {
  expect(isGroup({ active: '45d', grace: '7d' })).toBe(false);
  expect(isGroup({ a: 1, b: 2, c: 3 })).toBe(true);
  expect(isGroup([1, 2, 3])).toBe(false);
});
