// Numbers and times as people read them. One language: the product speaks English.

const whole = new Intl.NumberFormat('en-US');
const fraction = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

export function count(value: number | null | undefined): string {
  return value == null ? '–' : whole.format(value);
}

/** A count that the server may have estimated: `≈ 1,230,000`. */
export function estimated(value: number, isEstimate: boolean): string {
  return isEstimate ? `≈ ${count(value)}` : count(value);
}

/** A count that the server stopped at a cap: `≥ 10,000`. */
export function capped(value: number, isCapped: boolean): string {
  return isCapped ? `≥ ${count(value)}` : count(value);
}

export function decimal(value: number | null | undefined): string {
  return value == null ? '–' : fraction.format(value);
}

export function percent(value: number | null | undefined): string {
  return value == null ? '–' : `${fraction.format(value)} %`;
}

export function milliseconds(value: number | null | undefined): string {
  if (value == null) return '–';
  if (value > 0 && value < 0.05) return '< 0.1 ms';
  return value >= 1000 ? `${fraction.format(value / 1000)} s` : `${fraction.format(value)} ms`;
}

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${fraction.format(size)} ${units[unit]}`;
}

const steps: [number, string][] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** `3 min`, `2 h 5 min`: the two largest units that are not zero. */
export function duration(seconds: number | null | undefined): string {
  if (seconds == null) return '–';
  if (seconds < 1) return seconds > 0 ? '< 1 s' : '0 s';
  let rest = Math.floor(seconds);
  const parts: string[] = [];
  for (const [size, unit] of steps) {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) parts.push(`${amount} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

function largest(seconds: number): string {
  return duration(seconds).split(' ').slice(0, 2).join(' ');
}

/** `4 min ago`, `in 30 s`. */
export function relative(iso: string, now: number): string {
  const seconds = (now - Date.parse(iso)) / 1000;
  if (Math.abs(seconds) < 1) return 'now';
  return seconds > 0 ? `${largest(seconds)} ago` : `in ${largest(-seconds)}`;
}

/** `2026-05-28 20:26:40` in UTC, as logs and the command line show it. */
export function exact(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

/** `2026-05-28 22:26:40 GMT+2` by the reader's clock, or by another zone's; null where that is UTC. */
export function local(iso: string, zone?: string): string | null {
  const parts = new Intl.DateTimeFormat('en-GB', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'shortOffset',
    ...(zone === undefined ? {} : { timeZone: zone }),
  }).formatToParts(new Date(iso));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? '';
  if (/^(GMT|UTC)([+-]0)?$/.test(part('timeZoneName'))) return null;
  const time = `${part('hour')}:${part('minute')}:${part('second')}`;
  return `${part('year')}-${part('month')}-${part('day')} ${time} ${part('timeZoneName')}`;
}

/** `20:26:40` in UTC. */
export function clockTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(11, 19);
}

export function shortId(id: string): string {
  return id.length > 13 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
}

export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

const names: Record<string, string> = {
  bytes: 'Size',
  wal_bytes: 'Write-ahead log',
  outbox: 'Events',
  event_handled: 'Dedup records',
  preview: 'Next sweep (preview)',
  outbox_tombstoned: 'Events to tombstone',
  outbox_deleted: 'Events to delete',
  failed_swept: 'Of these, dead letters',
  handled_deleted: 'Dedup records to delete',
  more: 'More after that',
};

/** `oldest_age_seconds` → `Oldest age`. */
export function label(name: string): string {
  const known = names[name];
  if (known !== undefined) return known;
  const words = name.replace(/_(seconds|bytes|percent|ms)$/, '').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Counts of intervals of so many seconds, per minute. */
export const perMinute = (values: (number | null)[], interval: number): (number | null)[] =>
  values.map((value) => (value === null ? null : (value * 60) / interval));

/** Words of the API as a sentence: `nothing is due` becomes `Nothing is due.` */
export function sentence(words: string): string {
  if (words === '') return '';
  return words[0]!.toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? '' : '.');
}
