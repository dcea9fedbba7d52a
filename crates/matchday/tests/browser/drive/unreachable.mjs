// Whoever looks is told that the manager is gone, and need do nothing when it is back.

import assert from 'node:assert/strict';
import { go, say, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  assert.equal(await page.locator('#banner').isVisible(), false);
  say('ready');

  await page.locator('#banner').waitFor({ state: 'visible' });
  assert.match(await page.locator('#banner').textContent(), /cannot be reached.*start it again with the same command/);
  assert.match(await page.locator('main h1').textContent(), /Waiting/, 'what was seen stays');
  await page.evaluate(() => {
    window.mark = 'still the same page';
  });
  say('told');

  await page.locator('#banner').waitFor({ state: 'hidden' });
  assert.equal(await page.evaluate(() => window.mark), 'still the same page');
});
