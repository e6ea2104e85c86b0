import { expect, it } from 'vitest';
import { changeCommand, listCommand, onStore, operationCommand, shellQuote } from './cli';

it('quotes what a shell would take apart', () => {
  expect(shellQuote('type:a.b')).toBe('type:a.b');
  expect(shellQuote('type:a.*')).toBe("'type:a.*'");
  expect(shellQuote("it's")).toBe("'it'\\''s'");
});

it('writes a bulk replay', () => {
  const scope = { filter: 'class:timeout text:"no answer"', except: [] };
  expect(
    changeCommand({ kind: 'replay', scope, canary: 10, rate: 50, stop_percent: 20, reason: 'upstream is back' }),
  ).toBe(
    `sluice dlq replay --filter 'class:timeout text:"no answer"' --rate 50 --canary 10 --stop-percent 20 --reason 'upstream is back'`,
  );
});

it('asks for a dry run while there is no reason', () => {
  expect(changeCommand({ kind: 'discard', scope: { event_ids: ['a', 'b'] } })).toBe('sluice dlq discard a b --dry-run');
  expect(changeCommand({ kind: 'replay', scope: { filter: '', except: [] } })).toBe(
    'sluice dlq replay --all --dry-run',
  );
});

it('does not pretend that the command line knows exceptions', () => {
  expect(changeCommand({ kind: 'replay', scope: { filter: '', except: ['a'] } })).toBeNull();
});

it('writes a list', () => {
  expect(listCommand('dlq list', 'type:a')).toBe('sluice dlq list --filter type:a');
});

it('names the store of the daemon', () => {
  expect(onStore('sluice dlq list', '/var/lib/my sluice.db')).toBe(
    "sluice dlq list --store 'sqlite:/var/lib/my sluice.db'",
  );
  expect(onStore('sluice dlq list', 'postgres://shop@db/events')).toBe(
    'sluice dlq list --store postgres://shop@db/events',
  );
  expect(onStore('sluice dlq list', undefined)).toBe('sluice dlq list');
});

it('shows an operation, and what a plan would do', () => {
  const operation = { operation_id: 'a', kind: 'replay', state: 'running' } as const;
  expect(operationCommand(operation)).toBe('sluice op watch a');
  expect(operationCommand({ ...operation, state: 'planned' })).toBe('sluice dlq replay --plan a --dry-run');
  expect(operationCommand({ ...operation, kind: 'discard', state: 'planned' })).toBe('sluice op show a');
});
