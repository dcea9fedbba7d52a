// The end is a show: champion, podium and awards. When the manager then stops, nobody is told to start it again.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
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
  // Gold, silver and bronze differ.
  const medals = await show
    .locator('.step-block')
    .evaluateAll((blocks) => blocks.map((block) => `${block.textContent} ${getComputedStyle(block).backgroundColor}`));
  assert.equal(new Set(medals.map((medal) => medal.split(' rgb')[1])).size, new Set(medals.map((medal) => medal[0])).size);
  // The result can be shared, as a picture and as a link.
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    show.getByRole('button', { name: 'Picture (SVG)' }).click(),
  ]);
  assert.match(download.suggestedFilename(), /result\.svg$/);
  assert.match(readFileSync(await download.path(), 'utf8'), new RegExp(`^<svg.*${champion}`, 's'));
  assert.equal(await show.getByRole('button', { name: 'Copy the link' }).count(), 1);
  say('ready');

  await page.locator('#banner').waitFor({ state: 'visible' });
  const words = await page.locator('#banner').textContent();
  assert.match(words, /The league is over, and its manager has stopped/);
  assert.doesNotMatch(words, /same command|start it again/);
});
