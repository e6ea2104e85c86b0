import type { Overview } from './types';

const tones = { ok: '', info: '', warning: 'warn', critical: 'bad' } as const;

/** How loud the number of dead letters is: as loud as what the daemon says of it. */
export function deadTone(attention: Overview['attention']): '' | 'warn' | 'bad' {
  return tones[attention.find(({ id }) => id === 'dead-letters')?.severity ?? 'ok'];
}
