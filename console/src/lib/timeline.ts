// The story of an event, newest first, with what repeated itself told once.
import type { Moment } from './types';

export interface Chapter {
  what: string;
  detail: string;
  /** Newest first; more than one: they were identical. */
  times: string[];
}

/** Neighbours that say the same thing but for numbers (a claim, a replay) are one chapter. */
function sameness({ what, detail }: Moment): string {
  return `${what} ${detail.replace(/\b(claim|replay) \d+/g, '$1')}`;
}

export function fold(moments: readonly Moment[]): Chapter[] {
  const chapters: (Chapter & { same: string })[] = [];
  for (const moment of [...moments].reverse()) {
    const same = sameness(moment);
    const last = chapters.at(-1);
    if (last?.same === same) last.times.push(moment.at);
    else chapters.push({ what: moment.what, detail: moment.detail, times: [moment.at], same });
  }
  return chapters.map(({ what, detail, times }) => ({ what, detail, times }));
}
