// A Swiss league shows the tie-breaks that its places follow from, and no round is named twice.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  const heads = await page.locator('.standings thead th').allTextContents();
  assert.ok(heads.includes('BH') && heads.includes('SB'), heads.join(' '));
  const values = await page
    .locator('.standings .row')
    .evaluateAll((rows, at) => rows.map((row) => Number(row.cells[at].textContent)), heads.indexOf('BH'));
  assert.ok(
    values.some((value) => value > 0),
    values.join(' '),
  );
  await go(page, url, '#/rounds');
  assert.match(await page.locator('h1').textContent(), /^Round \d+$/);
});
