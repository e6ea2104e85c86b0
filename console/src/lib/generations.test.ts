import { expect, it } from 'vitest';
import { since, stepsOf } from './generations';
import type { Generation } from './types';

const generation = (members: Partial<Generation>) =>
  ({
    generation: 1,
    state: 'live',
    pending: 0,
    in_flight: 0,
    failed: 0,
    workers: 0,
    abandoned: false,
    estimated: [],
    ...members,
  }) as Generation;

it('offers only the steps of its state', () => {
  expect(stepsOf(generation({ state: 'allocated' }))).toEqual(['activate']);
  expect(stepsOf(generation({ state: 'live', pending: 9 }))).toEqual(['drain']);
  expect(stepsOf(generation({ state: 'draining', pending: 9 }))).toEqual(['activate', 'reroute', 'retire']);
  expect(stepsOf(generation({ state: 'draining' }))).toEqual(['activate', 'retire']);
  expect(stepsOf(generation({ state: 'retired' }))).toEqual([]);
  expect(stepsOf(generation({ state: null, pending: 1 }))).toEqual(['reroute']);
});

it('says since when', () => {
  expect(since(generation({ allocated_at: '1', activated_at: '2', draining_at: null }))).toBe('2');
  expect(since(generation({ state: null }))).toBeNull();
});
