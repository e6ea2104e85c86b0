// The same thing as a command, for a script, a colleague or the incident's notes.
import type { Action } from './types';
import type { Scope } from './selection';

export function shellQuote(text: string): string {
  return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function scopeWords(scope: Scope): string[] {
  if ('event_ids' in scope) return [...scope.event_ids];
  return scope.filter === '' ? ['--all'] : ['--filter', shellQuote(scope.filter)];
}

export interface Change {
  kind: Action;
  scope: Scope;
  to_generation?: number | undefined;
  rate?: number;
  canary?: number;
  stop_percent?: number;
  reason?: string;
}

/** None: the command line cannot say it. */
export function changeCommand(change: Change): string | null {
  if ('except' in change.scope && change.scope.except.length > 0) return null;
  const words = ['sluice', 'dlq', change.kind, ...scopeWords(change.scope)];
  if (change.to_generation !== undefined) words.push('--to-generation', String(change.to_generation));
  if (change.rate) words.push('--rate', String(change.rate));
  if (change.canary) words.push('--canary', String(change.canary));
  if (change.stop_percent !== undefined) words.push('--stop-percent', String(change.stop_percent));
  words.push(change.reason ? `--reason ${shellQuote(change.reason)}` : '--dry-run');
  return words.join(' ');
}

/** What shows one operation; a replay that is only planned is started by its token, and this says what that would do. */
export function operationCommand(operation: { operation_id: string; kind: Action; state: string }): string {
  const { operation_id, kind, state } = operation;
  if (state !== 'planned') return `sluice op watch ${operation_id}`;
  return kind === 'replay' ? `sluice dlq replay --plan ${operation_id} --dry-run` : `sluice op show ${operation_id}`;
}

/** On the store that the daemon works with: a shell may have another one. */
export function onStore(command: string, store: string | undefined): string {
  if (store === undefined || store === '') return command;
  return `${command} --store ${shellQuote(store.includes('://') ? store : `sqlite:${store}`)}`;
}

export function listCommand(noun: 'dlq list' | 'dlq groups' | 'event list', filter: string, sort = ''): string {
  const words = ['sluice', noun, ...(filter === '' ? [] : ['--filter', shellQuote(filter)])];
  return [...words, ...(sort === '' ? [] : ['--sort', sort])].join(' ');
}
