// Which entry of the navigation the screen belongs to, where its path does not tell: a dead letter is an event too.

let claimed = $state('');

export const section = {
  /** Empty: what the path says. */
  get claimed(): string {
    return claimed;
  },
  /** Until the answer is called. */
  claim(path: string): () => void {
    claimed = path;
    return () => {
      if (claimed === path) claimed = '';
    };
  },
};
