// A technical loss has the same colour in the cross table as in its legend, and no broken sentence says why.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

const paint = (node) => getComputedStyle(node).backgroundImage;

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/cross');
  const lost = page.locator('.cross td.heat').filter({ hasText: 'T' }).first();
  const legend = page.locator('.key .heat.t');
  assert.match(await legend.evaluate(paint), /gradient/);
  assert.equal(await lost.evaluate(paint), await legend.evaluate(paint));
  await go(page, url, '#/players/P02');
  assert.doesNotMatch(await page.locator('main').textContent(), /\?\.|\.\.(?!\.)|\(left out\) is/);
});
