// What the charts of the overview are about: all deliveries, or those of one handler, event type or sink.
export type Subject = { kind: 'all' } | { kind: SubjectKind; name: string };
export type SubjectKind = 'handler' | 'type' | 'sink';

export const subjectKinds: { kind: SubjectKind; text: string }[] = [
  { kind: 'handler', text: 'Handlers' },
  { kind: 'type', text: 'Event types' },
  { kind: 'sink', text: 'Sinks' },
];

/** From the address: `handler:billing.mailer`; anything else is everything. */
export function readSubject(text: string): Subject {
  const colon = text.indexOf(':');
  const kind = subjectKinds.find((each) => each.kind === text.slice(0, Math.max(colon, 0)))?.kind;
  const name = text.slice(colon + 1);
  return kind === undefined || name === '' ? { kind: 'all' } : { kind, name };
}

export const writeSubject = (kind: SubjectKind, name: string): string => `${kind}:${name}`;

/** A handler and a sink have runs; events of a type are delivered, retried or dead. */
export function titlesOf(subject: Exclude<Subject, { kind: 'all' }>): { throughput: string; time: string } {
  const { kind, name } = subject;
  if (kind === 'handler') return { throughput: `Runs of ${name}, per minute`, time: `How long a run of ${name} took` };
  if (kind === 'sink')
    return { throughput: `Deliveries to ${name}, per minute`, time: `How long a delivery to ${name} took` };
  return {
    throughput: `Events ${name}, per minute`,
    time: `Latency of first attempts of ${name}, occurred to delivered`,
  };
}
