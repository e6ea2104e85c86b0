import { expect, it } from 'vitest';
import { deadTone } from './attention';
import type { Attention } from './types';

const finding = (severity: Attention['severity']) => [{ id: 'dead-letters', severity } as Attention];

it('is as loud about dead letters as the daemon', () => {
  expect(deadTone([])).toBe('');
  expect(deadTone(finding('info'))).toBe('');
  expect(deadTone(finding('warning'))).toBe('warn');
  expect(deadTone(finding('critical'))).toBe('bad');
});
