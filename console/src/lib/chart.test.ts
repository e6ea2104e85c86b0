import { expect, it } from 'vitest';
import { lone } from './chart';

it('finds the points that no line would show', () => {
  expect(lone([5])).toEqual([0]);
  expect(lone([null, 5, null])).toEqual([1]);
  expect(lone([1, null, 3, 4, null, 6])).toEqual([0, 5]);
  expect(lone([1, 2])).toEqual([]);
  expect(lone([null, undefined])).toEqual([]);
});

it('takes zero for a value', () => {
  expect(lone([null, 0, null])).toEqual([1]);
  expect(lone([0, 5])).toEqual([]);
});
