import { describe, expect, it } from 'vitest';
import { filterOf, formatFilter, parseFilter, valueOf, withWord } from './filter';

describe('parseFilter', () => {
  it('reads words and quoted values', () => {
    expect(parseFilter('type:billing.*  text:"connection \\"refused\\" \\\\"').words).toEqual([
      { key: 'type', value: 'billing.*' },
      { key: 'text', value: 'connection "refused" \\' },
    ]);
  });

  it.each([
    ['timeout', 'is not a filter'],
    ['colour:red', 'is not a filter key'],
    ['type:', 'the value is missing'],
    ['text:"open', 'closing quote'],
    ['gen:1 gen:2', 'stands twice'],
  ])('explains what is wrong with %s', (text, reason) => {
    expect(parseFilter(text).error).toContain(reason);
  });

  it('is undone by formatFilter', () => {
    const words = [
      { key: 'text', value: 'a "b" \\ c' },
      { key: 'since', value: '2026-04-25T01:43:02Z' },
      { key: 'class', value: 'x"y' },
    ];
    expect(parseFilter(formatFilter(words))).toEqual({ words, error: null });
  });
});

describe('values of the payload', () => {
  it('are read with the way to them, and keep their quotes', () => {
    const text = 'data.order.id:4711 data.note:"4711" data.empty:""';
    expect(parseFilter(text)).toEqual({
      words: [
        { key: 'data.order.id', value: '4711' },
        { key: 'data.note', value: '4711', quoted: true },
        { key: 'data.empty', value: '', quoted: true },
      ],
      error: null,
    });
    expect(formatFilter(parseFilter(text).words)).toBe(text);
  });

  it('may hold anything in quotes', () => {
    const text = 'data."a.b".c:1 data."e:f":3 data."c d":x data."say \\"no\\" \\\\":2 data."":4 data.a"b:5';
    expect(parseFilter(text)).toMatchObject({ error: null });
    expect(parseFilter(text).words.map((word) => word.value)).toEqual(['1', '3', 'x', '2', '4', '5']);
    expect(formatFilter(parseFilter(text).words)).toBe(text);
  });

  it('are written in one way', () => {
    expect(formatFilter(parseFilter('data."a"."b c":1').words)).toBe('data.a."b c":1');
    expect(parseFilter('data."a":1 data.a:2').error).toBe('data.a stands twice.');
  });

  it.each(['data."a b:1', 'data."a\\":1'])('need a closing quote: %s', (text) => {
    expect(parseFilter(text).error).toBe(`${text}: the closing quote is missing.`);
  });

  it.each(['data:1', 'data.:1', 'data.a..b:1', 'data."a"b:1', 'data."a".:1'])('need a field: %s', (text) => {
    expect(parseFilter(text).error).toContain('is not a filter key');
  });
});

describe('withWord', () => {
  it('replaces in place, appends, removes', () => {
    expect(withWord('type:a class:b', 'type', 'c')).toBe('type:c class:b');
    expect(withWord('type:a', 'text', 'two words')).toBe('type:a text:"two words"');
    expect(withWord('type:a class:b', 'type', '')).toBe('class:b');
  });
});

it('filterOf leaves out what is empty', () => {
  expect(filterOf({ fp: '18cd', target: null, source: '', gen: 2 })).toBe('fp:18cd gen:2');
});

it('valueOf finds the value of a key', () => {
  expect(valueOf('type:a since:2h', 'since')).toBe('2h');
  expect(valueOf('type:a', 'since')).toBe('');
});
