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

// In pairs where a character needs two; a backslash before anything else stays with it.
const escapes = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|.)/gs;
// What can be seen. Controls, marks that turn the direction of the text and lone halves stay escaped, and so does what
// ends a string or begins an escape.
const visible = /^(?![\\"])[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** A string token as people read it: `\u017c` is ż. Never the text of a number. */
export function readable(token: string): string {
  if (!token.includes('\\')) return token;
  return token.replace(escapes, (escape) => {
    if (escape === '\\/') return '/';
    if (escape[1] !== 'u' || escape.length < 6) return escape;
    const units = escape.split('\\u').slice(1);
    const character = String.fromCharCode(...units.map((unit) => Number.parseInt(unit, 16)));
    return visible.test(character) ? character : escape;
  });
}

export interface Line {
  depth: number;
  tokens: Token[];
}

const space: Token = { kind: 'space', text: ' ' };

/** One member per line. Tokens keep their text, strings without needless escapes; blanks between them change. */
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
    const isText = token.kind === 'string' || token.kind === 'key';
    line.tokens.push(isText ? { ...token, text: readable(token.text) } : token);
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
