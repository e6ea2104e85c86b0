import type { Action, EventAction } from './types';

/** What a button says; the dots: something is asked before it is done. */
export const actionWords: Record<EventAction, string> = {
  run_now: 'Run now…',
  reschedule: 'Reschedule…',
  cancel: 'Cancel event…',
  replay: 'Replay…',
  replay_to: 'Replay to one handler…',
  edit_replay: 'Edit and replay…',
  discard: 'Discard…',
  restore: 'Restore…',
  resend: 'Send again…',
};

export const isDanger = (action: EventAction) => action === 'discard' || action === 'cancel';

const bulk: readonly string[] = ['replay', 'discard', 'restore'];

/** What an address asks for of many events; null: nothing that is known. */
export function asAction(text: string): Action | null {
  return bulk.includes(text) ? (text as Action) : null;
}

/** What an address asks for of one event; null: nothing that is known. */
export function asEventAction(text: string): EventAction | null {
  return text in actionWords ? (text as EventAction) : null;
}
