// While a match of the program's own players is played, a bar and a sentence say who can force a win.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  const board = page.locator('.live-board.large.playing');
  await board.getByText('Level: neither can force a win').waitFor();
  assert.equal(await board.locator('.outlook.level').count(), 1);
});
