// The page of a player who was beaten tells by which move, leads to that position, and gives the command that plays it again.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/players/P02');
  const why = page.getByRole('region', { name: 'Why did it lose?' });
  const loss = why.locator('.loss').filter({ hasText: 'The move that decided it' }).first();
  assert.match(await loss.textContent(), /Move \d \(the [a-z ]+\) lost the game; the [a-z ]+ would have (held the draw|won)/);
  await loss.getByText('Play it again with your agent').click();
  assert.match(
    await loss.locator('.command code').textContent(),
    /^matchday replay \S+ (--league \S+ )?--match R\d+M\d+ --as P02 --wait$/,
  );
  await loss.getByRole('link', { name: 'See the position' }).click();
  await page.getByRole('region', { name: 'The game' }).waitFor();
  assert.match(page.url(), /#\/matches\/R\d+M\d+\?ply=\d$/);

  // Every answer counts, and every move is told.
  await go(page, url, '#/players/P02');
  const chose = page.locator('.card').filter({ has: page.getByRole('heading', { name: 'What it chose' }) });
  assert.ok((await chose.locator('.bars li').count()) > 1, 'moves of tic_tac_toe are choices');
  const moves = (await chose.locator('.bar-count').allTextContents()).reduce((sum, text) => sum + parseInt(text), 0);
  const times = page.locator('.card').filter({ has: page.getByRole('heading', { name: 'Answer times' }) });
  assert.match(await times.locator('figcaption').first().textContent(), new RegExp(`^${moves} answers`));
});
