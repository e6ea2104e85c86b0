import type { EventRow } from './types';

/** What a person calls its state: an event that is not due yet is scheduled, or waits for its next retry. */
export function stateOf(event: EventRow, now: number): string {
  if (event.deleted_at) return event.status === 'pending' ? 'cancelled' : 'discarded';
  if (event.status !== 'pending' || event.retry_after === null || Date.parse(event.retry_after) <= now) {
    return event.status;
  }
  return event.attempts > 0 ? 'waiting_for_retry' : 'scheduled';
}
