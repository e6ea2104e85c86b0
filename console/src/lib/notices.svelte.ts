// Short messages about what was just done, at the foot of the screen.

export interface Notice {
  id: number;
  text: string;
  tone: 'good' | 'bad';
  link?: { to: string; text: string };
}

const shownFor = 8_000;
let all = $state.raw<readonly Notice[]>([]);
let next = 1;

export const notices = {
  get all(): readonly Notice[] {
    return all;
  },
  say(text: string, link?: Notice['link']): void {
    add({ id: next++, text, tone: 'good', ...(link ? { link } : {}) });
  },
  complain(text: string): void {
    add({ id: next++, text, tone: 'bad' });
  },
  dismiss(id: number): void {
    all = all.filter((notice) => notice.id !== id);
  },
};

function add(notice: Notice): void {
  all = [...all.slice(-2), notice];
  // A complaint stays until it is read.
  if (notice.tone === 'good') setTimeout(() => notices.dismiss(notice.id), shownFor);
}
