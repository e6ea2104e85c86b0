// The public conformance suite, with its own arguments. It imports fs.globSync, which Node has since version 22; only the commands
// for its own repository call it, so an older Node does without.
import fs from 'node:fs';
import { register } from 'node:module';

const hooks = `
export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (!url.endsWith('/conformance/dist/index.js')) return loaded;
  return { ...loaded, source: String(loaded.source).replace(/\\bglobSync as \\w+,/, '') };
}`;
if (!fs.globSync) register(`data:text/javascript,${encodeURIComponent(hooks)}`);
await import(new URL('./node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
