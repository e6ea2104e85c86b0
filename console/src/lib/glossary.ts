// What a word means, for whoever points at it. docs/reference/glossary.md says more.
const meanings: Record<string, string> = {
  Generation: 'The number of a deployment; workers claim only events of their own',
  Channel: 'Where a publish notifies workers',
  'Content class': 'A label of the publisher’s, kept with the event',
  'Ordering key': 'Events with the same one are delivered in order, one at a time',
  'Idempotency key': 'The same in every delivery of this event',
  Claims: 'How often a worker has taken it; a worker with an older number is fenced: it changes nothing',
  Fingerprint: 'The same for errors of the same class and message',
  Pending: 'Published and not delivered yet',
  Waiting: 'Pending, and not due yet: published for later, or its next retry is to come',
  'In flight': 'Claimed by a worker and not settled yet',
};

export function meaningOf(word: string): string | undefined {
  return meanings[word];
}
