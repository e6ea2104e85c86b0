import { expect, it } from 'vitest';
import { pretty, readable, tokenize } from './payload';

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

it('shows escaped letters as letters, and leaves numbers alone', () => {
  expect(pretty(String.raw`{"\u017c":"za\u017c\u00f3\u0142\u0107","n":1.0e5,"u":"\/a\u0020b"}`)).toBe(
    '{\n  "ż": "zażółć",\n  "n": 1.0e5,\n  "u": "/a b"\n}',
  );
  expect(readable(String.raw`"\ud83d\ude00"`)).toBe('"😀"');
});

it.each([
  String.raw`"a\"b\\u017c\n"`, // an escaped backslash, not an escape
  String.raw`"\u0000\u001b\u007f"`,
  String.raw`"\u202e\u200b\u2028"`, // would turn, hide or break the text
  String.raw`"\ud83d x \ude00"`, // lone halves
  String.raw`"\u0022\u005c"`, // would end the string
])('keeps what must stay escaped in %s', (token) => {
  expect(readable(token)).toBe(token);
});
