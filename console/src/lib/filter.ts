// The one filter grammar, as far as the console needs it: to take a filter apart into chips, to add a word to
// it and to put it together again. What a word means, and whether it is valid, the server says.

export const filterKeys = [
  'type',
  'source',
  'target',
  'class',
  'fp',
  'gen',
  'workspace',
  'id',
  'key',
  'since',
  'until',
  'text',
  'status',
  'trace',
  'saved',
] as const;
export type FilterKey = (typeof filterKeys)[number];

/** What leads into the payload: `data.order."customer.id"`. */
const data = 'data.';

export interface Word {
  key: string;
  value: string;
  /** Of a value of the payload: it is a string, not a number. */
  quoted?: true;
}

/** As the server has it, which a blank of Unicode does not part. */
const blank = /[ \t\r\n]/;

export type Parsed = { words: Word[]; error: null } | { words: Word[]; error: string };

/** The text in double quotes that opens at `at`, and where it ends; null: it does not close. */
function quotedAt(text: string, at: number): { value: string; end: number } | null {
  let value = '';
  for (let next = at + 1; next < text.length; next += 1) {
    if (text[next] === '"') return { value, end: next + 1 };
    if (text[next] === '\\' && next + 1 < text.length) next += 1;
    value += text.charAt(next);
  }
  return null;
}

function inQuotes(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

/** Where the key that begins at `start` ends; null: a quote of it does not close. */
function endOfKey(text: string, start: number): number | null {
  let at = start;
  while (at < text.length && text[at] !== ':' && !blank.test(text.charAt(at))) {
    const opens = text[at] === '"' && text[at - 1] === '.' && text.startsWith(data, start);
    const end = opens ? quotedAt(text, at)?.end : at + 1;
    if (end === undefined) return null;
    at = end;
  }
  return at;
}

/** `data."order".id` as the server writes it, `data.order.id`; null: it names no field. */
function canonical(key: string): string | null {
  let written = 'data';
  let at = written.length;
  while (key[at] === '.') {
    at += 1;
    const dot = key.indexOf('.', at);
    const plain = { value: key.slice(at, dot < 0 ? undefined : dot), end: dot < 0 ? key.length : dot };
    const part = key[at] === '"' ? quotedAt(key, at) : plain;
    if (part === null || part.end === at) return null;
    const needsQuotes = part.value === '' || part.value.startsWith('"') || /[.: \t\r\n]/.test(part.value);
    written += `.${needsQuotes ? inQuotes(part.value) : part.value}`;
    at = part.end;
  }
  return at === key.length ? written : null;
}

export function parseFilter(text: string): Parsed {
  const words: Word[] = [];
  let at = 0;
  while (at < text.length) {
    if (blank.test(text.charAt(at))) {
      at += 1;
      continue;
    }
    const end = endOfKey(text, at);
    if (end === null) return { words, error: `${text.slice(at)}: the closing quote is missing.` };
    const typed = text.slice(at, end);
    if (text[end] !== ':') {
      return { words, error: `“${typed}” is not a filter. Write key:value, or text:"${typed}" to search the error.` };
    }
    at = end + 1;
    const ofPayload = typed.startsWith(data);
    const key = ofPayload ? canonical(typed) : typed;
    if (key === null || (!ofPayload && !(filterKeys as readonly string[]).includes(key))) {
      return { words, error: `“${typed}” is not a filter key. Known: ${filterKeys.join(', ')}, data.FIELD.` };
    }
    const quoted = text[at] === '"';
    let value = '';
    if (quoted) {
      const read = quotedAt(text, at);
      if (read === null) return { words, error: `${key}: the closing quote is missing.` };
      value = read.value;
      at = read.end;
    } else {
      while (at < text.length && !blank.test(text.charAt(at))) {
        value += text.charAt(at);
        at += 1;
      }
    }
    if (value === '' && !(ofPayload && quoted)) return { words, error: `${key}: the value is missing.` };
    if (words.some((word) => word.key === key)) return { words, error: `${key} stands twice.` };
    words.push({ key, value, ...(ofPayload && quoted ? { quoted } : {}) });
  }
  return { words, error: null };
}

export function formatWord({ key, value, quoted }: Word): string {
  const needsQuotes = quoted || value.startsWith('"') || blank.test(value);
  return `${key}:${needsQuotes ? inQuotes(value) : value}`;
}

export function formatFilter(words: readonly Word[]): string {
  return words.map(formatWord).join(' ');
}

/** Sets one word, in the place of an earlier one with its key; an empty value takes it away. */
export function withWord(text: string, key: FilterKey, value: string): string {
  const { words } = parseFilter(text);
  const at = words.findIndex((word) => word.key === key);
  if (value === '') return formatFilter(words.filter((word) => word.key !== key));
  if (at < 0) return formatFilter([...words, { key, value }]);
  return formatFilter(words.map((word, index) => (index === at ? { key, value } : word)));
}

export function valueOf(text: string, key: FilterKey): string {
  return parseFilter(text).words.find((word) => word.key === key)?.value ?? '';
}

export type Values = Partial<Record<FilterKey, string | number | null>>;

/** Words from values, without the empty ones. */
export function wordsOf(values: Values): Word[] {
  return filterKeys.map((key) => ({ key, value: String(values[key] ?? '') })).filter((word) => word.value !== '');
}

export function filterOf(values: Values): string {
  return formatFilter(wordsOf(values));
}
