import { expect, it } from 'vitest';
import { controlsOf, isExpired, isOver, isUnderWay, operationsIn, outcomeOf, phaseOf } from './operations';
import type { Operation, OperationState } from './types';

const operation = (state: OperationState, members: Partial<Operation> = {}) =>
  ({ state, kind: 'replay', failed_again: 0, note: '', ...members }) as Operation;

it('offers only what is possible now', () => {
  expect(controlsOf(operation('running'))).toEqual(['pause', 'rate', 'cancel']);
  expect(controlsOf(operation('paused'))).toEqual(['resume', 'rate', 'cancel']);
  expect(controlsOf(operation('planned'))).toEqual(['cancel']);
  expect(controlsOf(operation('finished'))).toEqual([]);
});

it('knows what runs and what has ended', () => {
  expect(isUnderWay(operation('paused'))).toBe(true);
  expect(isOver(operation('paused'))).toBe(false);
  expect(isOver(operation('stopped'))).toBe(true);
});

it('knows a plan that is too old', () => {
  const plan = operation('planned', { expires_at: '2026-05-28T20:41:40Z' });
  expect(isExpired(plan, Date.parse('2026-05-28T20:41:00Z'))).toBe(false);
  expect(isExpired(plan, Date.parse('2026-05-28T20:42:00Z'))).toBe(true);
  expect(isExpired({ ...plan, state: 'running' }, Date.parse('2026-05-28T20:42:00Z'))).toBe(false);
});

it('tells the end in a sentence', () => {
  expect(outcomeOf(operation('stopped', { note: '8 of 10 failed again' }))).toBe(
    'Stopped by itself: 8 of 10 failed again. The rest stay dead letters.',
  );
  expect(outcomeOf(operation('finished'))).toContain('accounted for');
  expect(outcomeOf(operation('finished', { failed_again: 2 }))).toContain('dead letters once more');
  expect(outcomeOf(operation('running'))).toBe('');
});

it('finds the operations that a sentence names', () => {
  const id = '01890a5d-ac96-774b-bcce-b302099a8057';
  expect(operationsIn(`by ann in operation ${id}: mended`)).toEqual([
    { words: 'by ann in ', id },
    { words: ': mended', id: '' },
  ]);
  expect(operationsIn('operation seven')).toEqual([{ words: 'operation seven', id: '' }]);
});

const progress = (members: Partial<Operation>) =>
  operation('running', {
    total: 100,
    delivered: 0,
    skipped: 0,
    changed: 0,
    in_flight: 0,
    remaining: 100,
    rate: 0,
    canary: 0,
    phase: 'rest',
    ...members,
  });

it('says where it is', () => {
  expect(phaseOf(progress({ phase: 'canary', canary: 10, delivered: 3 }))).toBe('canary: 3 of 10 have an outcome');
  expect(phaseOf(progress({ phase: 'rest', canary: 10 }))).toContain('went well');
  expect(phaseOf(progress({ phase: 'settling', in_flight: 4 }))).toBe('the last 4 are being delivered');
  expect(phaseOf(progress({ phase: null }))).toBe('');
});
