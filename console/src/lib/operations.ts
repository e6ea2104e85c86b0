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
