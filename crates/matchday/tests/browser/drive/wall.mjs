// `f` turns the wall on: every player is on the screen, with the race, a board, and the address as a QR code.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit({ viewport: { width: 1920, height: 1080 } });
  await go(page, url, '#/');
  const players = await page.locator('.standings .row').count();
  await page.keyboard.press('f');
  await page.locator('.wall').waitFor();
  assert.match(page.url(), /#\/wall$/);
  const rows = await page.locator('.wall-row').evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect()));
  assert.equal(rows.length, players);
  for (const { top, bottom, left, right } of rows)
    assert.ok(top >= 0 && left >= 0 && bottom <= 1080 && right <= 1920, 'every row is on the screen');
  const cut = await page
    .locator('.wall-row .name')
    .evaluateAll((names) => names.filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent));
  assert.deepEqual(cut, [], 'every name is whole');
  const high = await page.locator('.wall-rows').evaluate((list) => list.scrollHeight - list.clientHeight);
  assert.ok(high <= 1, `${high} px of the table are off the screen`);
  assert.ok(await page.locator('.wall .chart .line').count(), 'the points race');
  assert.equal(await page.locator('.top').isVisible(), false);
  const qr = page.getByRole('img', { name: `QR code of ${url}` });
  assert.ok((await qr.locator('path').getAttribute('d')).length > 1000);
  await page.keyboard.press('Escape');
  await page.locator('.standings').waitFor();
  assert.match(page.url(), /#\/$/);
});
