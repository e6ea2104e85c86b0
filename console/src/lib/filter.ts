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

/** What leads into the payload: `data.order.id`. */
const dataKey = /^data\.[^.]+(\.[^.]+)*$/;

export interface Word {
  key: string;
  value: string;
  /** Of a value of the payload: it is a string, not a number. */
  quoted?: true;
}

const blank = /\s/;

export type Parsed = { words: Word[]; error: null } | { words: Word[]; error: string };

export function parseFilter(text: string): Parsed {
  const words: Word[] = [];
  let at = 0;
  while (at < text.length) {
    if (blank.test(text.charAt(at))) {
      at += 1;
      continue;
    }
    const start = at;
    while (at < text.length && text[at] !== ':' && !blank.test(text.charAt(at))) at += 1;
    const key = text.slice(start, at);
    if (text[at] !== ':') {
      return { words, error: `“${key}” is not a filter. Write key:value, or text:"${key}" to search the error.` };
    }
    at += 1;
    let value = '';
    const quoted = text[at] === '"';
    if (quoted) {
      at += 1;
      while (at < text.length && text[at] !== '"') {
        if (text[at] === '\\' && at + 1 < text.length) at += 1;
        value += text.charAt(at);
        at += 1;
      }
      if (at >= text.length) return { words, error: `${key}: the closing quote is missing.` };
      at += 1;
    } else {
      while (at < text.length && !blank.test(text.charAt(at))) {
        value += text.charAt(at);
        at += 1;
      }
    }
    const ofPayload = dataKey.test(key);
    if (!ofPayload && !(filterKeys as readonly string[]).includes(key)) {
      return { words, error: `“${key}” is not a filter key. Known: ${filterKeys.join(', ')}, data.FIELD.` };
    }
    if (value === '' && !(ofPayload && quoted)) return { words, error: `${key}: the value is missing.` };
    if (words.some((word) => word.key === key)) return { words, error: `${key} stands twice.` };
    words.push({ key, value, ...(ofPayload && quoted ? { quoted } : {}) });
  }
  return { words, error: null };
}

export function formatWord({ key, value, quoted }: Word): string {
  const needsQuotes = quoted || value.startsWith('"') || blank.test(value);
  return needsQuotes ? `${key}:"${value.replace(/[\\"]/g, '\\$&')}"` : `${key}:${value}`;
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
