import { expect, it } from 'vitest';
import { pretty, tokenize } from './payload';

it('keeps numbers that no JavaScript number can hold', () => {
  expect(pretty('{"n":9007199254740993,"d":0.10000000000000000001,"e":-1.5E+400}')).toBe(
    '{\n  "n": 9007199254740993,\n  "d": 0.10000000000000000001,\n  "e": -1.5E+400\n}',
  );
});

it('tells keys from strings, also with escapes and braces inside', () => {
  const kinds = tokenize('{"a\\"{": "b,]", "c" : true}').map((token) => token.kind + ' ' + token.text);
  expect(kinds.filter((kind) => !kind.startsWith('punctuation') && !kind.startsWith('space'))).toEqual([
    'key "a\\"{"',
    'string "b,]"',
    'key "c"',
    'word true',
  ]);
});

it('lays out nested and empty values', () => {
  expect(pretty('{"a":[],"b":{},"c":[1,{"d":null}]}')).toBe(
    '{\n  "a": [],\n  "b": {},\n  "c": [\n    1,\n    {\n      "d": null\n    }\n  ]\n}',
  );
});

it.each(['', '{"open', '}}]', 'not json <script>', '{"a":1}trailing'])('loses nothing of %j', (text) => {
  expect(pretty(text).replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
});
