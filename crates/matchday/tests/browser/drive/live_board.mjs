// The front page shows a match of open information move by move, while it is played.

import assert from 'node:assert/strict';
import { go, say, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  const live = page.locator('.live-board.playing');
  await live.waitFor();
  assert.match(await page.locator('.featured h2').textContent(), /Being played now/);
  const marks = () => live.locator('.cell[data-mark]').count();
  const before = await marks();
  assert.match(await live.textContent(), /to move/);
  say('moving');
  await page.waitForFunction((count) => document.querySelectorAll('.live-board .cell[data-mark]').length > count, before);
  assert.match(await live.locator('.last-move').textContent(), /^(Ada|Ann) takes the [a-z ]+ \(\d/);
  // A search that knew better would help who reads the API: not while the match is played.
  const ask = (path) => page.evaluate(async (path) => (await fetch(path)).json(), path);
  assert.equal((await ask('api/matches/R1M1')).outlook, undefined);
  const { boards } = await ask('api/boards');
  assert.ok(boards.length > 0 && boards.every((board) => board.outlook === undefined));
  say('moved');
});
