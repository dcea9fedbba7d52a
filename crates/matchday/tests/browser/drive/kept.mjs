// What a reader has opened, typed and scrolled to stays through a change.

import assert from 'node:assert/strict';
import { go, say, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit({ viewport: { width: 1280, height: 400 } });
  await go(page, url, '#/messages');
  const first = page.locator('.exchanges details').first();
  await first.locator('summary').click();
  await first.locator('pre').first().waitFor();
  const opened = await first.locator('summary').textContent();
  await page.getByLabel('Conversation').fill('half a filt');
  await page.evaluate(() => scrollTo(0, 60));
  const before = await page.locator('.exchanges > li').count();
  say('ready');

  await page.waitForFunction((count) => document.querySelectorAll('.exchanges > li').length > count, before);
  const still = page.locator('.exchanges details[open]');
  assert.equal(await still.count(), 1);
  assert.equal(await still.locator('summary').textContent(), opened);
  assert.equal(await page.getByLabel('Conversation').inputValue(), 'half a filt');
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'INPUT');
  assert.ok((await page.evaluate(() => scrollY)) >= 60, 'the page has not jumped to its top');
});
