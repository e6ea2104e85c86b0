// The payload is text from the store to the screen. It is never parsed into values, because a JavaScript number
// would round 9007199254740993; this only finds where its tokens begin and end, and lays them out.

export type TokenKind = 'key' | 'string' | 'number' | 'word' | 'punctuation' | 'space' | 'other';

export interface Token {
  kind: TokenKind;
  text: string;
}

const pattern = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)|([{}[\],:])|(\s+)|([^\s"{}[\],:]+|")/gs;

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(pattern)) {
    const [, string, colon, number, word, punctuation, space, other] = match;
    if (string !== undefined) {
      tokens.push({ kind: colon === undefined ? 'string' : 'key', text: string });
      if (colon !== undefined) tokens.push({ kind: 'punctuation', text: ':' });
    } else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if (punctuation !== undefined) tokens.push({ kind: 'punctuation', text: punctuation });
    else if (space !== undefined) tokens.push({ kind: 'space', text: space });
    else tokens.push({ kind: 'other', text: other ?? '' });
  }
  return tokens;
}

export interface Line {
  depth: number;
  tokens: Token[];
}

const space: Token = { kind: 'space', text: ' ' };

/** One member per line. Tokens keep their text; only blanks between them change. */
export function layOut(text: string): Line[] {
  const tokens = tokenize(text).filter((token) => token.kind !== 'space');
  const lines: Line[] = [];
  let line: Line = { depth: 0, tokens: [] };
  let depth = 0;
  const end = () => {
    if (line.tokens.length > 0) lines.push(line);
    line = { depth, tokens: [] };
  };
  tokens.forEach((token, index) => {
    const before = tokens[index - 1]?.text;
    const opens = token.text === '{' || token.text === '[';
    const closes = token.kind === 'punctuation' && (token.text === '}' || token.text === ']');
    if (closes) {
      depth = Math.max(0, depth - 1);
      if (before !== '{' && before !== '[') end();
    }
    line.tokens.push(token);
    if (token.kind !== 'punctuation') return;
    const after = tokens[index + 1]?.text;
    if (token.text === ':') line.tokens.push(space);
    if (token.text === ',') end();
    if (opens) {
      depth += 1;
      if (after !== '}' && after !== ']') end();
    }
  });
  end();
  return lines;
}

export function pretty(text: string): string {
  return layOut(text)
    .map(({ depth, tokens }) => '  '.repeat(depth) + tokens.map((token) => token.text).join(''))
    .join('\n');
}
