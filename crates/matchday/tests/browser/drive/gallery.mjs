// Takes a picture of each page of a league in three sizes: small files, for the documentation. Says which pages it saw.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

const PAGES = [
  ['league', '#/'],
  ['match', '#/matches/R1M1'],
  ['player', '#/players/P01'],
  ['rounds', '#/rounds/1'],
  ['cross', '#/cross'],
  ['charts', '#/charts'],
  ['wall', '#/wall'],
];
const SIZES = {
  desktop: { viewport: { width: 1440, height: 900 }, deviceScaleFactor: 0.6 },
  wall: { viewport: { width: 1920, height: 1080 }, deviceScaleFactor: 0.5 },
  phone: { viewport: { width: 390, height: 844 } },
};

await scenario(async ({ url, visit }) => {
  const folder = process.argv[3];
  for (const [size, options] of Object.entries(SIZES)) {
    const page = await visit({ ...options, colorScheme: size === 'wall' ? 'dark' : 'light', reducedMotion: 'reduce' });
    for (const [name, hash] of PAGES) {
      await go(page, url, hash);
      assert.ok(await page.locator('main').evaluate((main) => main.textContent.length > 40), `${name} on ${size}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${name} on ${size} is ${wide} px too wide`);
      await page.screenshot({ path: `${folder}/${name}-${size}.jpg`, type: 'jpeg', quality: 55, animations: 'disabled' });
    }
  }
});
