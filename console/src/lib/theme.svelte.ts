// System, light or dark. The choice is an attribute of <html>; the colours are in the style sheet.

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const key = 'sluice.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const stored = localStorage.getItem(key) as Theme | null;

let chosen = $state<Theme>(stored !== null && themes.includes(stored) ? stored : 'system');
let systemIsDark = $state(dark.matches);
dark.addEventListener('change', () => (systemIsDark = dark.matches));

export const theme = {
  get chosen(): Theme {
    return chosen;
  },
  set chosen(value: Theme) {
    chosen = value;
    localStorage.setItem(key, value);
  },
  get shown(): 'light' | 'dark' {
    if (chosen !== 'system') return chosen;
    return systemIsDark ? 'dark' : 'light';
  },
  /** The other one than is shown now. */
  flip(): void {
    theme.chosen = theme.shown === 'dark' ? 'light' : 'dark';
  },
};

$effect.root(() => {
  $effect(() => {
    document.documentElement.dataset['theme'] = theme.shown;
  });
});
