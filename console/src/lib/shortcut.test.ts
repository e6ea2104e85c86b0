import { expect, it } from 'vitest';
import { ShortcutReader } from './shortcut';

const known = ['g d', 'g e', 'j', 'd'];

it('reads two keys in a row', () => {
  const reader = new ShortcutReader();
  expect(reader.press('g', 0, known)).toBe('g');
  expect(reader.press('d', 300, known)).toBe('g d');
  expect(reader.press('d', 400, known)).toBe('d');
});

it('forgets the first key after a second', () => {
  const reader = new ShortcutReader();
  reader.press('g', 0, known);
  expect(reader.press('d', 1500, known)).toBe('d');
});

it('takes a key that completes nothing for itself', () => {
  const reader = new ShortcutReader();
  reader.press('g', 0, known);
  expect(reader.press('j', 100, known)).toBe('j');
});
