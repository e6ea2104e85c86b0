// Which dead letters are meant: those ticked, or all that match the filter but some. It is kept in the address,
// so it survives a reload, and it is what a plan is asked for.

export type Selection = { all: false; ids: readonly string[] } | { all: true; except: readonly string[] };

export const nothing: Selection = { all: false, ids: [] };

export function readSelection(query: URLSearchParams): Selection {
  const list = (name: string) => (query.get(name) ?? '').split(',').filter((id) => id !== '');
  return query.get('sel') === 'all' ? { all: true, except: list('except') } : { all: false, ids: list('sel') };
}

/** As parameters of an address; empty ones are to be removed. */
export function writeSelection(selection: Selection): { sel: string; except: string } {
  return selection.all
    ? { sel: 'all', except: selection.except.join(',') }
    : { sel: selection.ids.join(','), except: '' };
}

export function has(selection: Selection, id: string): boolean {
  return selection.all ? !selection.except.includes(id) : selection.ids.includes(id);
}

function flip(ids: readonly string[], id: string): string[] {
  return ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id];
}

export function toggle(selection: Selection, id: string): Selection {
  return selection.all
    ? { all: true, except: flip(selection.except, id) }
    : { all: false, ids: flip(selection.ids, id) };
}

/** Adds the ids of a page, or takes them away. */
export function setPage(selection: Selection, page: readonly string[], chosen: boolean): Selection {
  const wanted = page.filter((id) => has(selection, id) !== chosen);
  return wanted.reduce<Selection>(toggle, selection);
}

export function size(selection: Selection, matching: number): number {
  return selection.all ? Math.max(0, matching - selection.except.length) : selection.ids.length;
}

/** What a plan is asked for. */
export type Scope = { filter: string; except: readonly string[] } | { event_ids: readonly string[] };

export function scopeOf(selection: Selection, filter: string): Scope {
  return selection.all ? { filter, except: selection.except } : { event_ids: selection.ids };
}
