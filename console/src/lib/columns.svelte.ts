// The columns that a list of events can have, and which the reader has chosen.
import { stateOf } from './state';
import type { EventRow } from './types';

export interface Column {
  key: string;
  title: string;
  kind: 'text' | 'mono' | 'number' | 'time' | 'status' | 'error' | 'event';
  value: (event: EventRow) => string | number | null;
}

const all: Column[] = [
  { key: 'failed_at', title: 'Failed', kind: 'time', value: (event) => event.failed_at },
  { key: 'occurred_at', title: 'Occurred', kind: 'time', value: (event) => event.occurred_at },
  { key: 'event_type', title: 'Event', kind: 'event', value: (event) => event.event_type },
  { key: 'status', title: 'Status', kind: 'status', value: (event) => stateOf(event, Date.now()) },
  { key: 'route', title: 'Route', kind: 'text', value: (event) => `${event.source} → ${event.target ?? 'all'}` },
  { key: 'error', title: 'Error', kind: 'error', value: (event) => event.last_error },
  { key: 'error_class', title: 'Error class', kind: 'text', value: (event) => event.error_class },
  { key: 'attempts', title: 'Attempts', kind: 'number', value: (event) => event.attempts_made },
  { key: 'generation', title: 'Gen', kind: 'number', value: (event) => event.generation },
  { key: 'fingerprint', title: 'Fingerprint', kind: 'mono', value: (event) => event.fingerprint },
  { key: 'ordering_key', title: 'Ordering key', kind: 'mono', value: (event) => event.ordering_key },
  { key: 'workspace_id', title: 'Workspace', kind: 'mono', value: (event) => event.workspace_id },
  { key: 'idempotency_key', title: 'Idempotency key', kind: 'mono', value: (event) => event.idempotency_key },
  { key: 'claimed_by', title: 'Claimed by', kind: 'mono', value: (event) => event.claimed_by },
  { key: 'retry_after', title: 'Next attempt', kind: 'time', value: (event) => event.retry_after },
];

export class Columns {
  readonly all = all;
  #key: string;
  #chosen = $state.raw<readonly string[]>([]);

  /** `list` names where the choice is remembered. */
  constructor(list: string, standard: readonly string[]) {
    this.#key = `sluice.columns.${list}`;
    const stored = (localStorage.getItem(this.#key) ?? '')
      .split(',')
      .filter((key) => all.some((one) => one.key === key));
    this.#chosen = stored.length > 0 ? stored : standard;
  }

  get shown(): Column[] {
    return all.filter((column) => this.has(column.key));
  }

  has(key: string): boolean {
    return this.#chosen.includes(key);
  }

  toggle(key: string): void {
    const chosen = this.has(key) ? this.#chosen.filter((other) => other !== key) : [...this.#chosen, key];
    // A list of events without any column tells nothing.
    this.#chosen = chosen.length > 0 ? chosen : ['event_type'];
    localStorage.setItem(this.#key, this.#chosen.join(','));
  }
}
