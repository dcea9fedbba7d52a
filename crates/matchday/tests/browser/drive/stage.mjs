// One board is large, and the others small beside it; the one that the viewer picks becomes the large one. What has been drawn does not
// fall again, and nothing moves for readers who want no motion.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit({ viewport: { width: 1440, height: 900 } });
  await go(page, url, '#/');
  const large = page.locator('.live-board.large');
  await large.waitFor();
  assert.equal(await large.count(), 1);
  const small = page.locator('.live-board.small');
  assert.equal(await small.count(), 4);
  const width = (board) => board.locator('.grid-board').evaluate((picture) => picture.getBoundingClientRect().width);
  assert.ok((await width(large)) > 1.8 * (await width(small.first())), 'the large board is large');

  const picked = await small.nth(1).getByRole('button').getAttribute('aria-label');
  const id = /Watch (\S+)/.exec(picked)[1];
  await small.nth(1).getByRole('button').click();
  await large.getByRole('link', { name: id, exact: true }).waitFor();
  assert.equal(await small.count(), 4);

  const discs = () => page.evaluate(() => document.getAnimations().filter((one) => one.animationName === 'fall').length);
  await page.waitForFunction(() => document.getAnimations().every((one) => one.animationName !== 'fall'));
  await page.evaluate(() => dispatchEvent(new Event('hashchange')));
  await page.waitForResponse((response) => response.url().includes('api/boards'));
  assert.equal(await discs(), 0, 'no disc falls twice');

  const still = await visit({ reducedMotion: 'reduce' });
  await go(still, url, '#/');
  await still.locator('.live-board.large').waitFor();
  assert.equal(await still.evaluate(() => document.getAnimations().length), 0);
});
