// Groups of failures, put together the way the reader asks for.
import { withWord, wordsOf, type FilterKey, type Word } from './filter';
import type { Group } from './types';

export const groupings = ['failure', 'class', 'type', 'source', 'target'] as const;
export type Grouping = (typeof groupings)[number];

export interface Row {
  key: string;
  title: string;
  /** Words that select these events; empty where the grammar has none (no target), and then nothing can be done to them as one. */
  words: Word[];
  groups: Group[];
  count: number;
  replayed: number;
  firstSeen: string;
  lastSeen: string;
}

type Identity = Pick<Row, 'key' | 'title' | 'words'>;

function identity(group: Group, by: Grouping): Identity {
  const { event_type: type, source, target, error_class, fingerprint: fp } = group;
  switch (by) {
    case 'failure':
      return {
        key: [fp, type, source, target].join(' '),
        title: error_class,
        words: wordsOf({ type, source, target, fp }),
      };
    case 'class':
      return { key: error_class, title: error_class, words: wordsOf({ class: error_class }) };
    case 'type':
      return { key: type, title: type, words: wordsOf({ type }) };
    case 'source':
      return { key: source, title: source, words: wordsOf({ source }) };
    case 'target':
      return { key: target ?? '', title: target ?? 'no target (broadcast)', words: wordsOf({ target }) };
  }
}

/** The error without its class, which is shown beside it. */
export function withoutClass(error: string, errorClass: string): string {
  return error.startsWith(`${errorClass}: `) ? error.slice(errorClass.length + 2) : error;
}

/** The filter of the screen, narrowed to one row. */
export function narrowed(filter: string, row: Row): string {
  return row.words.reduce((text, { key, value }) => withWord(text, key as FilterKey, value), filter);
}

/** The most numerous first. */
export function rowsBy(groups: readonly Group[], by: Grouping): Row[] {
  const found = new Map<string, Row>();
  for (const group of groups) {
    const id = identity(group, by);
    const known = found.get(id.key);
    if (known) {
      known.groups.push(group);
      known.count += group.count;
      known.replayed += group.replayed;
      if (group.first_failed_at < known.firstSeen) known.firstSeen = group.first_failed_at;
      if (group.last_failed_at > known.lastSeen) known.lastSeen = group.last_failed_at;
    } else {
      const { count, replayed, first_failed_at: firstSeen, last_failed_at: lastSeen } = group;
      found.set(id.key, { ...id, groups: [group], count, replayed, firstSeen, lastSeen });
    }
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}
