import { expect, it } from 'vitest';
import { rowsBy, narrowed, withoutClass } from './groups';
import type { Group } from './types';

function group(members: Partial<Group>): Group {
  return {
    event_type: 'a.b',
    source: 'shop',
    target: null,
    error_class: 'TimeoutError',
    fingerprint: 'f1',
    count: 1,
    state: 'open',
    first_failed_at: '2026-01-02',
    last_failed_at: '2026-01-03',
    first_generation: 1,
    last_generation: 1,
    replayed: 0,
    acknowledged_at: null,
    acknowledged_by: '',
    acknowledged_reason: '',
    came_back: 0,
    came_back_generation: null,
    sample_error: '',
    ...members,
  };
}

const groups = [
  group({ count: 2 }),
  group({ fingerprint: 'f2', count: 5, target: 'billing', first_failed_at: '2026-01-01', replayed: 3 }),
  group({ fingerprint: 'f3', error_class: 'ConnectionError', count: 4 }),
];

it('keeps each group, the most numerous first', () => {
  expect(rowsBy(groups, 'failure').map(({ count }) => count)).toEqual([5, 4, 2]);
});

it('puts kinds together', () => {
  const [timeouts, refusals] = rowsBy(groups, 'class');
  expect(timeouts).toMatchObject({ title: 'TimeoutError', count: 7, replayed: 3, firstSeen: '2026-01-01' });
  expect(refusals?.count).toBe(4);
});

it('narrows the filter of the screen', () => {
  const [first] = rowsBy(groups, 'failure');
  expect(narrowed('since:2h type:x', first!)).toBe('since:2h type:a.b source:shop target:billing fp:f2');
});

it('offers no filter for events without a target', () => {
  const broadcast = rowsBy(groups, 'target').find(({ key }) => key === '');
  expect(broadcast?.words).toEqual([]);
});

it('does not say the class twice', () => {
  expect(withoutClass('TimeoutError: no answer', 'TimeoutError')).toBe('no answer');
  expect(withoutClass('no answer', 'TimeoutError')).toBe('no answer');
});
