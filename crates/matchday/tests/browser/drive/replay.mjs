// A match of tic_tac_toe is played over: ply by ply by keys, by its address, and the line that won is lit.

import assert from 'node:assert/strict';
import { go, scenario, shown } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/matches/R1M1');
  const game = page.getByRole('region', { name: 'The game' });
  const marks = () => game.locator('.cell text').allTextContents();
  const last = Number(await game.getByRole('slider').getAttribute('max'));
  assert.equal((await marks()).length, last, 'the last position is shown first');
  assert.match(await game.textContent(), /after \d/, 'the last move says how long it took');
  assert.equal(await game.locator('.cell.line').count(), (await page.locator('.pill.win').count()) ? 3 : 0);

  await game.focus();
  await page.keyboard.press('Home');
  assert.deepEqual(await marks(), []);
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
  await game.getByText(`Ply ${last} of ${last}`).waitFor();
});
