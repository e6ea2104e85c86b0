// The address is the state: path, filter, page and selection live in it, so back, reload and a link to a
// colleague show the same thing.
import { absolute, insidePath } from './base';

export interface Place {
  path: string;
  query: URLSearchParams;
}

function read(): Place {
  return { path: insidePath(location.pathname), query: new URLSearchParams(location.search) };
}

let place = $state.raw<Place>(read());

export const router = {
  get path(): string {
    return place.path;
  },
  get query(): URLSearchParams {
    return place.query;
  },
  param(name: string): string {
    return place.query.get(name) ?? '';
  },
};

export function go(to: string, how: 'push' | 'replace' = 'push'): void {
  const address = absolute(to);
  if (address === location.pathname + location.search) return;
  const isOther = address.split('?')[0] !== location.pathname;
  if (how === 'push') history.pushState(null, '', address);
  else history.replaceState(null, '', address);
  place = read();
  if (isOther) window.scrollTo(0, 0);
}

/** Changes parameters of the current address; an empty value takes one away. */
export function setParams(changes: Record<string, string>, how: 'push' | 'replace' = 'push'): void {
  go(withParams(place, changes), how);
}

export function withParams(from: Place, changes: Record<string, string>): string {
  const query = new URLSearchParams(from.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  return link(from.path, query);
}

export function here(changes: Record<string, string>): string {
  return withParams(place, changes);
}

/** `/dlq?filter=…`, without empty parameters. */
export function link(path: string, params: URLSearchParams | Record<string, string> = {}): string {
  const query = new URLSearchParams();
  const pairs = params instanceof URLSearchParams ? params.entries() : Object.entries(params);
  for (const [name, value] of pairs) if (value !== '') query.set(name, value);
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** As an href: relative to <base>. */
export function href(path: string, params: URLSearchParams | Record<string, string> = {}): string {
  return absolute(link(path, params));
}

/** Links stay links (new tab, copy address); a plain click on one of ours changes the screen without a reload. */
export function takeLinks(root: HTMLElement): void {
  window.addEventListener('popstate', () => (place = read()));
  root.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const anchor = (event.target as Element).closest('a');
    if (!anchor || anchor.target || anchor.hasAttribute('download') || anchor.origin !== location.origin) return;
    if (insidePath(anchor.pathname) === anchor.pathname && absolute('/') !== '/') return;
    event.preventDefault();
    go(insidePath(anchor.pathname) + anchor.search);
  });
}
