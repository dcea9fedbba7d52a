// The reader is told that the manager is gone, and need do nothing when it is back.

import assert from 'node:assert/strict';
import { go, say, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  assert.equal(await page.locator('#banner').isVisible(), false);
  say('ready');

  await page.locator('#banner').waitFor({ state: 'visible' });
  const words = await page.locator('#banner').textContent();
  assert.match(words, /cannot be reached|was stopped/);
  assert.doesNotMatch(words, /same command/);
  assert.match(await page.locator('main h1').textContent(), /Waiting/, 'what was seen stays');
  await page.evaluate(() => {
    window.mark = 'still the same page';
  });
  say('told');

  await page.locator('#banner').waitFor({ state: 'hidden' });
  assert.equal(await page.evaluate(() => window.mark), 'still the same page');
});
