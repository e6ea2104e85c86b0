// A page of events that stays where it is: newer rows wait until the reader asks for them.
import { address } from './api';
import { resource, type Resource } from './resource.svelte';
import type { EventPage } from './types';

export const pageSize = 50;

export interface Pages {
  readonly list: Resource<EventPage>;
  /** How many rows wait: `37`, or `50+` when none of the page is known; empty: none. */
  readonly fresh: string;
  /** How many of the shown rows no longer belong to the list. */
  readonly gone: number;
}

const ids = (page: EventPage) => page.events.map((event) => event.event_id);

function differs(shown: EventPage, fresh: EventPage): boolean {
  return ids(shown).join() !== ids(fresh).join();
}

/** `query` is read reactively; null: nothing to fetch now. */
export function pages(path: string, query: () => { filter: string; cursor: string; sort: string } | null): Pages {
  const list = resource<EventPage>(
    () => {
      const wanted = query();
      return wanted && address(path, { ...wanted, limit: pageSize, payload: 'none' });
    },
    { holdBack: differs },
  );
  const fresh = $derived.by(() => {
    if (!list.held || !list.data) return '';
    const known = new Set(ids(list.data));
    const added = ids(list.held).filter((id) => !known.has(id)).length;
    if (added === 0) return '';
    return added === pageSize ? `${added}+` : String(added);
  });
  const gone = $derived.by(() => {
    if (!list.held || !list.data) return 0;
    const kept = new Set(ids(list.held));
    // Rows that newer ones pushed to the next page are not gone.
    const pushed = list.held.events.length === pageSize ? Number.parseInt(fresh || '0', 10) : 0;
    return Math.max(0, ids(list.data).filter((id) => !kept.has(id)).length - pushed);
  });
  return {
    list,
    get fresh() {
      return fresh;
    },
    get gone() {
      return gone;
    },
  };
}
