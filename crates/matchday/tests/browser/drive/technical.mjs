// A reader who opens a match that was lost without being played out learns who lost it, whose fault it was, and why.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/matches/R1M1');
  const note = page.getByRole('region', { name: 'A technical loss' });
  const words = await note.textContent();
  assert.match(words, /lost this match without its being played out/);
  assert.match(words, /The player itself is to blame/);
  assert.match(words, /Sleeper/);
  assert.match(words, /No GAME_JOIN_ACK came/);

  // The waterfall shows the question that was never answered.
  const asked = page.locator('.waterfall details.bad');
  assert.ok((await asked.count()) > 0, 'the unanswered message is marked');
  await asked.first().locator('summary').click();
  assert.match(await asked.first().textContent(), /GAME_INVITATION/);
  assert.match(await asked.first().textContent(), /Answered\s*never/);
});
