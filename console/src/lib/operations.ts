import type { Operation } from './types';

export function isOver({ state }: Operation): boolean {
  return state === 'finished' || state === 'stopped' || state === 'cancelled';
}

/** A plan that nobody started in time cannot be started any more. */
export function isExpired({ state, expires_at }: Operation, now: number): boolean {
  return state === 'planned' && Date.parse(expires_at) < now;
}

export function isUnderWay({ state }: Operation): boolean {
  return state === 'running' || state === 'paused';
}

/** What an operator can do to it now. */
export function controlsOf({ state }: Operation): ('pause' | 'resume' | 'rate' | 'cancel')[] {
  if (state === 'running') return ['pause', 'rate', 'cancel'];
  if (state === 'paused') return ['resume', 'rate', 'cancel'];
  return state === 'planned' ? ['cancel'] : [];
}

/** The end of it in one sentence. */
export function outcomeOf(operation: Operation): string {
  const { state, kind, failed_again, note } = operation;
  if (state === 'stopped') return `Stopped by itself: ${note || 'too many failed again'}. The rest stay dead letters.`;
  if (note !== '') return note;
  if (state === 'cancelled') return 'Cancelled. What was replayed stays replayed.';
  if (state !== 'finished') return '';
  if (kind !== 'replay') return 'Done.';
  return failed_again === 0
    ? 'All events accounted for.'
    : 'Done, but some failed again: they are dead letters once more.';
}

const named = /\boperation ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g;

/** A sentence cut at the operations that it names: words, and the id that follows them (empty at the end). */
export function operationsIn(text: string): { words: string; id: string }[] {
  const parts: { words: string; id: string }[] = [];
  let from = 0;
  for (const match of text.matchAll(named)) {
    parts.push({ words: text.slice(from, match.index), id: match[1]! });
    from = match.index + match[0].length;
  }
  parts.push({ words: text.slice(from), id: '' });
  return parts;
}

/** `canary: 5 of 10`; empty where there is none. */
export function phaseOf({ phase, canary, total, delivered, failed_again, in_flight }: Operation): string {
  const outcomes = delivered + failed_again;
  if (phase === 'canary') return `canary: ${Math.min(outcomes, canary)} of ${Math.min(canary, total)} have an outcome`;
  if (phase === 'settling') return `the last ${in_flight} are being delivered`;
  if (phase === 'rest')
    return canary > 0 ? 'the canary went well; the rest is replayed' : 'everything, without a canary';
  return '';
}
