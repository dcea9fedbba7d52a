// Opens the dashboard in headless Chromium and plays one scenario on it.
//
//     node SCENARIO.mjs URL
//
// A scenario fails by throwing. Whatever it did, it has failed too if the page threw, if its policy was broken, or if it
// asked any other host for anything. The packages are found where the tests install them.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const tools = createRequire(process.env.MATCHDAY_TEST_TOOLS + '/node_modules/');
const { chromium } = tools('playwright-core');

export const axe = () => tools.resolve('axe-core/axe.min.js');

/** A page of each kind, in a league that has played. */
export const PAGES = [
  '#/',
  '#/rounds',
  '#/rounds/1',
  '#/cross',
  '#/charts',
  '#/wall',
  '#/players/P01',
  '#/matches/R1M1',
  '#/messages',
  '#/referees',
];

/** Says to the test that started this that it may go on. */
export const say = (word) => console.log(word);

/** Goes to a page, and waits until it is drawn. */
export async function go(page, url, hash) {
  await page.goto(`${url}${hash}`);
  await shown(page, hash);
}

export const shown = (page, hash) => page.waitForSelector(`main[data-shown="${hash}"]`);

/** Opens whatever can be opened. */
export const unfold = (page) =>
  page.evaluate(() =>
    document.querySelectorAll('main details').forEach((details) => {
      details.open = true;
    }),
  );

export async function scenario(play) {
  setTimeout(() => {
    console.error('the scenario took longer than four minutes');
    process.exit(1);
  }, 240_000).unref();
  const url = process.argv[2];
  const faults = [];
  const root = process.getuid() === 0;
  const browser = await chromium.launch({
    executablePath: process.env.MATCHDAY_CHROMIUM,
    args: root ? ['--no-sandbox'] : [],
  });
  const visit = async (options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    page.on('pageerror', (error) => faults.push(`thrown: ${error.stack}`));
    page.on('console', (line) => {
      if (/content security policy|trusted/i.test(line.text())) faults.push(`policy: ${line.text()}`);
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(url)) faults.push(`another host: ${request.url()}`);
    });
    return page;
  };
  try {
    await play({ url, visit });
    assert.deepEqual(faults, []);
  } finally {
    await browser.close();
  }
}
