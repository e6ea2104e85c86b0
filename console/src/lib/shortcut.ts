// Reads keys into shortcuts: `g` then `d` within a second is `g d`.

const longestGap = 1000;

export class ShortcutReader {
  private first = '';
  private at = 0;

  /** The shortcut that this key completes: of two keys where one is known, else of one. */
  press(key: string, at: number, known: readonly string[]): string {
    const pair = `${this.first} ${key}`;
    const completes = this.first !== '' && at - this.at <= longestGap && known.includes(pair);
    const begins = known.some((keys) => keys.startsWith(`${key} `));
    this.first = !completes && begins ? key : '';
    this.at = at;
    return completes ? pair : key;
  }
}
