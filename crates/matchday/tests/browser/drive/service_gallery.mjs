// Takes a picture of each page of a service in three sizes: small files, for the documentation.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { scenario } from './browser.mjs';

const [, , , FOLDER, SERVICE_TOKEN, OPERATOR_TOKEN, HANDOUT] = process.argv;
const SIZES = {
  desktop: { viewport: { width: 1440, height: 900 }, deviceScaleFactor: 0.6 },
  wall: { viewport: { width: 1920, height: 1080 }, deviceScaleFactor: 0.5, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 } },
};

await scenario(async ({ url, visit }) => {
  const stranger = { tokens: {} };
  const operator = {
    tokens: { 'matchday service /': SERVICE_TOKEN, 'matchday league /leagues/class-of-may/': OPERATOR_TOKEN },
  };
  const opened = (name, what = 'dialog[open] form') => async (page) => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.waitForSelector(what);
  };
  const pages = [
    ['service', 'leagues', stranger],
    ['registration', 'leagues/class-of-may/', stranger],
    ['operator', 'leagues/class-of-may/', { ...operator, act: opened('Operator') }],
    ['manage', 'leagues', { ...operator, act: opened('Manage class-of-may') }],
    ['create', 'leagues', { ...operator, act: opened('Create') }],
    ['season', 'seasons/monday-night', stranger],
    ['career', 'seasons/monday-night#/players/Ada', stranger],
    ['ladder', 'leagues/climbers/', stranger],
    ['ladder-round', 'leagues/climbers/#/wall', { ...stranger, act: opened('Round', '.scene-round') }],
  ];
  for (const [size, options] of Object.entries(SIZES)) {
    const shot = async (page, name) => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${name} on ${size} is ${wide} px too wide`);
      await page.screenshot({ path: `${FOLDER}/${name}-${size}.jpg`, type: 'jpeg', quality: 45, animations: 'disabled' });
    };
    for (const [name, path, { tokens, act }] of pages) {
      const page = await visit({ colorScheme: 'light', ...options, reducedMotion: 'reduce' });
      await page.addInitScript((kept) => Object.entries(kept).forEach(([place, token]) => sessionStorage.setItem(place, token)), tokens);
      await page.goto(`${url}${path}`);
      await page.waitForSelector('main[data-shown] h1');
      await act?.(page);
      await shot(page, name);
      await page.context().close();
    }
    const page = await visit({ colorScheme: 'light', ...options });
    await page.setContent(readFileSync(HANDOUT, 'utf8'));
    await shot(page, 'handout');
    await page.context().close();
  }
});
