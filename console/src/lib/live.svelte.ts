// The heartbeat of the screens: how often they refresh, and what holds them still.

import { untrack } from 'svelte';

export const intervals = [2, 5, 10, 30] as const;

const stored = Number(localStorage.getItem('sluice.live'));

let seconds = $state<number>((intervals as readonly number[]).includes(stored) ? stored : 5);
let stopped = $state(false);
let hidden = $state(document.hidden);
let holds = $state.raw<readonly string[]>([]);
let beat = $state(0);

export const live = {
  get beat(): number {
    return beat;
  },
  get seconds(): number {
    return seconds;
  },
  set seconds(value: number) {
    seconds = value;
    stopped = false;
    localStorage.setItem('sluice.live', String(value));
  },
  get stopped(): boolean {
    return stopped;
  },
  get isPaused(): boolean {
    return stopped || hidden || holds.length > 0;
  },
  /** Why nothing moves, where the reader did not say so. */
  get reason(): string {
    if (stopped) return '';
    return hidden ? 'the tab is hidden' : (holds.at(-1) ?? '');
  },
  toggle(): void {
    stopped = !stopped;
  },
  /** Refreshes at once, paused or not. */
  refresh(): void {
    beat += 1;
  },
  /** Keeps the screens still until the answer is called: "rows are selected". */
  hold(why: string): () => void {
    // Whoever holds it must not depend on who else does.
    holds = [...untrack(() => holds), why];
    return () => {
      const others = untrack(() => holds);
      holds = others.toSpliced(others.indexOf(why), 1);
    };
  },
};

document.addEventListener('visibilitychange', () => (hidden = document.hidden));

$effect.root(() => {
  $effect(() => {
    if (live.isPaused) return;
    const timer = setInterval(() => (beat += 1), seconds * 1000);
    return () => clearInterval(timer);
  });
});
