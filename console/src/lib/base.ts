// Where the console lives. The server fills in <base href>, so a path prefix is known only here.

export const basePath: string = new URL(document.baseURI).pathname;

/** The path below the prefix, with a leading slash: `/dlq/items`. */
export function insidePath(pathname: string): string {
  return pathname.startsWith(basePath) ? '/' + pathname.slice(basePath.length) : pathname;
}

/** An address of the console or the API as the browser needs it, from one with a leading slash. */
export function absolute(path: string): string {
  return basePath + path.replace(/^\//, '');
}
