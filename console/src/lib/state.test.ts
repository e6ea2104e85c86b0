import { expect, it } from 'vitest';
import { stateOf } from './state';
import type { EventRow } from './types';

const now = Date.parse('2026-05-01T12:00:00Z');
const pending = (members: Partial<EventRow>) =>
  ({ status: 'pending', deleted_at: null, retry_after: '2026-05-01T13:00:00Z', attempts: 0, ...members }) as EventRow;

it('tells an event that was published for later from one that is tried again', () => {
  expect(stateOf(pending({}), now)).toBe('scheduled');
  expect(stateOf(pending({ attempts: 2 }), now)).toBe('waiting_for_retry');
});

it('calls what is due pending, what was cancelled cancelled, and what was discarded discarded', () => {
  expect(stateOf(pending({ retry_after: null }), now)).toBe('pending');
  expect(stateOf(pending({ retry_after: '2026-05-01T11:00:00Z', attempts: 2 }), now)).toBe('pending');
  expect(stateOf(pending({ deleted_at: '2026-05-01T11:00:00Z' }), now)).toBe('cancelled');
  expect(stateOf(pending({ status: 'failed', deleted_at: '2026-05-01T11:00:00Z' }), now)).toBe('discarded');
  expect(stateOf(pending({ status: 'delivered' }), now)).toBe('delivered');
});
