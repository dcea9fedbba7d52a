// The end is a show: champion, podium and awards. When the manager then stops, nobody is told to start it again.

import assert from 'node:assert/strict';
import { go, say, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  const show = page.locator('.show');
  await show.waitFor();
  const [champion] = await page.locator('.standings tbody .who .name').allTextContents();
  assert.match(await show.textContent(), new RegExp(`champion.*${champion}`, 'is'));
  const champions = await show.locator('.show-name .name').count();
  assert.equal(await show.locator('.podium .step').count(), champions > 3 ? 0 : 3);
  assert.match(await show.locator('.awards').textContent(), /Fastest mind/);
  assert.doesNotMatch(await show.locator('.awards').textContent(), /0\.0 s/);
  say('ready');

  await page.locator('#banner').waitFor({ state: 'visible' });
  const words = await page.locator('#banner').textContent();
  assert.match(words, /The league is over, and its manager has stopped/);
  assert.doesNotMatch(words, /same command|start it again/);
});
