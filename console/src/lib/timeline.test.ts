import { expect, it } from 'vitest';
import { fold } from './timeline';

it('tells the newest first and identical neighbours once', () => {
  const chapters = fold([
    { at: '1', what: 'published', detail: 'generation 1' },
    { at: '2', what: 'failed', detail: 'before replay 1, 5 attempts: slow' },
    { at: '3', what: 'failed', detail: 'before replay 2, 5 attempts: slow' },
    { at: '4', what: 'failed', detail: 'cycle 3, 5 attempts: refused' },
    { at: '5', what: 'failed', detail: 'cycle 4, 5 attempts: slow' },
  ]);
  expect(chapters.map(({ what, times }) => [what, times])).toEqual([
    ['failed', ['5']],
    ['failed', ['4']],
    ['failed', ['3', '2']],
    ['published', ['1']],
  ]);
});
