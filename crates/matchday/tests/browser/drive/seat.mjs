// The page of a player in a seat shows what its client was told and what it said.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/players/P02');
  const seat = page.getByRole('region', { name: 'At its seat' });
  await seat.waitFor();
  const words = await seat.textContent();
  assert.match(words, /said make_move .*choice "even"/);
  assert.match(words, /was told your_turn; options \["even","odd"\]/);
  assert.match(words, /was told .*R1M1: (win|draw|loss)/);
  assert.doesNotMatch(words, /seat_[0-9a-f]{8}/, 'no key is shown');
});
