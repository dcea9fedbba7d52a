// Defects of pages that were seen once: orders for everyone, colours of technical losses, moves that were cut, folded print.

import assert from 'node:assert/strict';
import { go, scenario, unfold } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit({ viewport: { width: 1280, height: 500 } });
  await go(page, url, '#/matches/R1M1');
  assert.equal(await page.getByRole('button', { name: /^Void/ }).count(), 0, 'readers are offered no orders');
  const moves = page.locator('.moves');
  const [inner, outer] = await moves.evaluate((node) => [node.scrollHeight, node.clientHeight]);
  assert.ok(inner <= outer, 'no move is hidden');
  for (const text of await page.locator('.waterfall .took, .ticks span').allTextContents())
    assert.doesNotMatch(text, /\b\d+\.0 ms/, 'whole milliseconds have no decimal');

  // What is folded on the screen is printed.
  const folded = page.locator('main details').first();
  assert.equal(await folded.evaluate((node) => node.open), false);
  const printed = await page.evaluate(() => {
    dispatchEvent(new Event('beforeprint'));
    const open = document.querySelectorAll('main details:not([open])').length === 0;
    dispatchEvent(new Event('afterprint'));
    return open;
  });
  assert.ok(printed, 'every section is open in print');
  assert.equal(await folded.evaluate((node) => node.open), false, 'and folded again after it');

  await go(page, url, '#/players/P01');
  await unfold(page);
  assert.equal(await page.getByRole('button', { name: /^Withdraw/ }).count(), 0);
  const points = page.locator('.card').filter({ has: page.getByRole('heading', { name: 'Points, round by round' }) });
  if (await points.count()) {
    const played = await page.locator('.figure').filter({ hasText: 'played' }).locator('dd').textContent();
    assert.match(await points.textContent(), new RegExp(`from ${played} match`));
  }
});
