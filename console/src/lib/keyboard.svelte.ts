// Shortcuts of one key, or of two in a row (`g d`). Screens add theirs while they are shown; the last one added
// wins. They are silent while the reader types, and can be switched off altogether.
import { untrack } from 'svelte';
import { ShortcutReader } from './shortcut';

export interface Shortcut {
  keys: string;
  what: string;
  run: (event: KeyboardEvent) => void;
  /** False: it does nothing now and another one may. */
  when?: () => boolean;
}

const offKey = 'sluice.shortcuts.off';
let all = $state.raw<readonly Shortcut[]>([]);
let off = $state(localStorage.getItem(offKey) === 'yes');
const reader = new ShortcutReader();

export const keyboard = {
  get all(): readonly Shortcut[] {
    return all;
  },
  get off(): boolean {
    return off;
  },
  set off(value: boolean) {
    off = value;
    localStorage.setItem(offKey, value ? 'yes' : 'no');
  },
};

/** Adds shortcuts for as long as the component lives. Call it while a component is set up. */
export function shortcuts(...mine: Shortcut[]): void {
  $effect(() => {
    all = [...untrack(() => all), ...mine];
    return () => (all = all.filter((shortcut) => !mine.includes(shortcut)));
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('a, button, summary') !== null;
}

window.addEventListener('keydown', (event) => {
  if (off || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const inField = isTyping(event.target) && (event.target as HTMLInputElement).type !== 'checkbox';
  if (inField || document.querySelector('dialog[open]')) return;
  // Enter belongs to the link or button that has the focus.
  if (event.key === 'Enter' && isControl(event.target)) return;
  const typed = reader.press(
    event.key,
    event.timeStamp,
    all.map((shortcut) => shortcut.keys),
  );
  const found = all.findLast((shortcut) => shortcut.keys === typed && shortcut.when?.() !== false);
  if (!found) return;
  event.preventDefault();
  found.run(event);
});
