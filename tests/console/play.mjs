// play.mjs STORY: opens Debian's Chromium at the console and plays one story. Any error on the page's own console,
// a blocked inline style or script among them, fails the story.
import { mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const [story] = process.argv.slice(2);
const { CONSOLE: url, PICTURES: pictures } = process.env;
mkdirSync(pictures, { recursive: true });

const complaints = [];
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error}`));
  page.on('console', (message) => {
    // Chromium reports an answer of 4xx or 5xx as an error of the page; what the page makes of it is tested.
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) complaints.push(`${page.url()}: ${message.text()}`);
  });
  return page;
}

// Says a line to the test that started this, and waits for its answer.
async function ask(line) {
  console.log(line);
  return (await answers.next()).value;
}

const page = await open();
try {
  const { default: play } = await import(`./${story}.mjs`);
  await play({ page, url, open, ask, picture: (name, of = page) => of.screenshot({ path: `${pictures}/${name}.png` }) });
  if (complaints.length > 0) throw new Error(`the page complained:\n${complaints.join('\n')}`);
} catch (error) {
  await page.screenshot({ path: `${pictures}/failed-${story}.png`, fullPage: true });
  console.error(error);
  console.error(complaints.join('\n'));
  process.exitCode = 1;
} finally {
  await browser.close();
  process.stdin.destroy();
}
