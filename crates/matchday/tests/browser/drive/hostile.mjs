// A name is text wherever it stands, whatever it says.

import assert from 'node:assert/strict';
import { go, PAGES, scenario, unfold } from './browser.mjs';

const NAMES = JSON.parse(process.argv[3]);

await scenario(async ({ url, visit }) => {
  const page = await visit();
  let seen = '';
  for (const hash of [...PAGES, '#/players/P02', '#/players/P03', '#/matches/R2M1', '#/matches/R3M1']) {
    await go(page, url, hash);
    await unfold(page);
    assert.equal(await page.evaluate(() => window.hacked), undefined, hash);
    assert.equal(await page.locator('main img, main script, main iframe, main b u').count(), 0, hash);
    // What turns the direction of writing ends with the name: what stands beside it is read from the left.
    const unbounded = await page.evaluate(() => {
      const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
      const found = [];
      while (texts.nextNode()) {
        const { data, parentElement } = texts.currentNode;
        if (/[\u202A-\u202E\u2066-\u2069]/.test(data) && !parentElement.closest('bdi, title'))
          found.push(parentElement.outerHTML);
      }
      return found;
    });
    assert.deepEqual(unbounded, [], hash);
    seen += await page.locator('main').textContent();
  }
  for (const name of NAMES) assert.ok(seen.includes(name), `${name} is shown as it is`);
});
