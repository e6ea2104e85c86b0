// Whether the daemon answers, and how soon: for the banner that a slow or lost store gets instead of a hang, and for the
// mark on what is shown meanwhile.
import { clock } from './clock.svelte';

const slowAfter = 2_500;
const staleAfter = 10_000;

let slow = $state(0);
let trouble = $state('');
let answeredAt = $state(0);

export const health = {
  /** Some request has been waiting for long. */
  get slow(): boolean {
    return slow > 0;
  },
  /** Why the last request got no answer; empty when one came since. */
  get trouble(): string {
    return trouble;
  },
  get answeredAt(): number {
    return answeredAt;
  },
  /** When what is shown was last true, once that can no longer be taken for now; null: it can. */
  get staleSince(): number | null {
    if (answeredAt === 0) return null;
    const isSilent = slow > 0 && clock.now - answeredAt > staleAfter;
    return trouble !== '' || isSilent ? answeredAt : null;
  },
  waits(): { over: () => void } {
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      slow += 1;
    }, slowAfter);
    return {
      over: () => {
        clearTimeout(timer);
        if (isSlow) slow -= 1;
      },
    };
  },
  answered(): void {
    trouble = '';
    answeredAt = Date.now();
  },
  failed(why: string): void {
    trouble = why;
  },
};
