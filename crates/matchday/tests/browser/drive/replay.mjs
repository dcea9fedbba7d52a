// A match of tic_tac_toe is played over: ply by ply by keys, by its address, and the line that won is lit.

import assert from 'node:assert/strict';
import { go, scenario, shown } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/matches/R1M1');
  const game = page.getByRole('region', { name: 'The game' });
  const marks = () => game.locator('.cell').evaluateAll((cells) => cells.flatMap((cell) => cell.dataset.mark ?? []));
  const last = Number(await game.getByRole('slider').getAttribute('max'));
  assert.equal((await marks()).length, last, 'the last position is shown first');
  assert.match(
    await game.locator('.ply').textContent(),
    /^Move \d of \d: (Ada|Basho) takes the [a-z ]+ \(\d/,
    'the last move is named as people name it, with how long it took',
  );
  assert.doesNotMatch(await game.textContent(), /ply|P0\d/i);
  assert.equal(await game.locator('.cell.line').count(), (await page.locator('.pill.win').count()) ? 3 : 0);

  await game.focus();
  await page.keyboard.press('Home');
  assert.deepEqual(await marks(), []);
  // Who would win from here: a search knows, and the match is over.
  assert.equal(await game.getByRole('img', { name: /neither can force a win/ }).count(), 1);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.deepEqual((await marks()).sort(), ['O', 'X']);
  assert.equal(await game.locator('.cell.last').count(), 1);
  assert.match(page.url(), /#\/matches\/R1M1\?ply=2$/);

  // The slider goes along with the keys, also after it was moved by hand.
  await game.getByRole('slider').fill('1');
  await game.focus();
  await page.keyboard.press('End');
  assert.equal(await game.getByRole('slider').inputValue(), String(last));

  await go(page, url, '#/');
  await go(page, url, '#/matches/R1M1?ply=1');
  await shown(page, '#/matches/R1M1?ply=1');
  assert.deepEqual(await marks(), ['X']);

  await game.getByRole('button', { name: 'Play' }).click();
  await game.getByText(`Move ${last} of ${last}`).waitFor();
});
