import { expect, it } from 'vitest';
import {
  has,
  nothing,
  readSelection,
  scopeOf,
  setPage,
  size,
  toggle,
  writeSelection,
  type Selection,
} from './selection';

const all: Selection = { all: true, except: [] };

it('ticks single events', () => {
  const two = toggle(toggle(nothing, 'a'), 'b');
  expect(has(two, 'a')).toBe(true);
  expect(size(two, 5000)).toBe(2);
  expect(size(toggle(two, 'a'), 5000)).toBe(1);
  expect(scopeOf(two, 'type:x')).toEqual({ event_ids: ['a', 'b'] });
});

it('means all that match but the exceptions', () => {
  const but = toggle(toggle(toggle(all, 'a'), 'b'), 'c');
  expect(size(but, 5000)).toBe(4997);
  expect(has(but, 'a')).toBe(false);
  expect(has(but, 'z')).toBe(true);
  expect(scopeOf(but, 'type:x')).toEqual({ filter: 'type:x', except: ['a', 'b', 'c'] });
});

it('takes a page', () => {
  const page = setPage(toggle(nothing, 'a'), ['a', 'b'], true);
  expect(page).toEqual({ all: false, ids: ['a', 'b'] });
  expect(setPage(page, ['a', 'b'], false)).toEqual(nothing);
  expect(setPage(all, ['a'], false)).toEqual({ all: true, except: ['a'] });
});

it.each<Selection>([nothing, all, { all: true, except: ['a', 'b'] }, { all: false, ids: ['c'] }])(
  'survives the address: %j',
  (selection) => {
    expect(readSelection(new URLSearchParams(writeSelection(selection)))).toEqual(selection);
  },
);
