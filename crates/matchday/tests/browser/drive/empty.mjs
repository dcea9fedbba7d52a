// A league that nobody has joined says what to do, by commands that can be copied.

import assert from 'node:assert/strict';
import { go, scenario, shown } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  await page.getByRole('heading', { name: 'Waiting for agents' }).waitFor();
  const next = page.getByRole('region', { name: 'What to do next' });
  const words = await next.textContent();
  assert.match(words, /matchday player/);
  assert.match(words, /matchday referee/);
  for (const [hash, name] of [
    ['#/rounds', 'Rounds'],
    ['#/cross', 'Cross table'],
    ['#/messages', 'Messages'],
    ['#/referees', 'Referees'],
  ]) {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
    await shown(page, hash);
    assert.ok((await page.locator('main .empty').textContent()).length > 20, `${hash} says why it is empty`);
  }

  // The wall says how to join.
  await go(page, url, '#/wall');
  const wall = await page.locator('.wall').textContent();
  assert.match(wall, /Nobody has joined yet/);
  assert.match(wall, /Registration is open.*matchday player --manager http\S+mcp/s);
  assert.match(wall, /0 players and 0 referees registered/);
});
