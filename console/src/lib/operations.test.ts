import { expect, it } from 'vitest';
import { controlsOf, isExpired, isOver, isUnderWay, outcomeOf } from './operations';
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
