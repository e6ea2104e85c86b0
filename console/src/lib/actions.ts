import type { Action } from './types';

const actions: readonly string[] = ['replay', 'discard', 'restore'];

/** What an address asks for; null: nothing that is known. */
export function asAction(text: string): Action | null {
  return actions.includes(text) ? (text as Action) : null;
}
