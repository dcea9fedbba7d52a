// On a phone no word of a board is broken, and no name in the table is cut.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit({ viewport: { width: 390, height: 844 } });
  await go(page, url, '#/');
  await page.locator('.draw-board').first().waitFor();
  const broken = await page
    .locator('.draw-side b')
    .evaluateAll((words) =>
      words
        .filter((word) => word.getBoundingClientRect().height > 1.8 * Number.parseFloat(getComputedStyle(word).fontSize))
        .map((word) => word.textContent),
    );
  assert.deepEqual(broken, []);
  const cut = await page
    .locator('.standings tbody .name')
    .evaluateAll((names) => names.filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent));
  assert.deepEqual(cut, []);

  // Letters of charts keep a size that can be read.
  await go(page, url, '#/charts');
  const heights = await page
    .locator('.chart svg text')
    .evaluateAll((texts) => texts.map((text) => Math.round(text.getBoundingClientRect().height)));
  assert.ok(Math.min(...heights) >= 9, `${heights}`);
});
