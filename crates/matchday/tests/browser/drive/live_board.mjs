// The front page shows a match of open information move by move, while it is played.

import assert from 'node:assert/strict';
import { go, say, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  const live = page.locator('.live-board.playing');
  await live.waitFor();
  assert.match(await page.locator('.featured h2').textContent(), /Being played now/);
  const marks = () => live.locator('.cell text').count();
  const before = await marks();
  assert.match(await live.textContent(), /to move/);
  say('moving');
  await page.waitForFunction((count) => document.querySelectorAll('.live-board .cell text').length > count, before);
  say('moved');
});
