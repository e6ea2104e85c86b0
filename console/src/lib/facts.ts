// Facts about a store, as the server names them: each with a label, and its unit where the name tells it.
import { bytes, count, duration, exact, label, percent } from './format';

export type Fact = string | number | boolean | null | Fact[] | { [name: string]: Fact };
export type Facts = Record<string, Fact>;

const time = /^\d{4}-\d\d-\d\dT/;

// So many parts are said in one line.
const inline = 2;

/** A fact that has facts of its own, which are shown below it. */
export function isGroup(value: Fact): value is Facts {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > inline;
}

export function factText(name: string, value: Fact): string {
  if (value === null || value === '') return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') {
    if (/(^|_)bytes$/.test(name)) return bytes(value);
    if (name.endsWith('_seconds')) return duration(value);
    if (name.endsWith('_percent')) return percent(value);
    return count(value);
  }
  if (typeof value === 'string') return time.test(value) ? `${exact(value)} UTC` : value;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((one) => factText(name, one)).join(', ');
  return Object.entries(value)
    .map(([part, inner]) => `${label(part).toLowerCase()} ${factText(part, inner)}`)
    .join(', ');
}
