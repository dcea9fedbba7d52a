// The wall goes round by itself, stays where it is told to, and stands still for readers who want no motion.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit({ viewport: { width: 1920, height: 1080 } });
  await page.clock.install();
  await go(page, url, '#/wall');
  await page.locator('.scene-table').waitFor();
  await page.clock.runFor(13_000);
  await page.locator('.scene-race').waitFor();
  const chart = await page.locator('.wall-scene .chart svg').first().boundingBox();
  assert.ok(chart.width > 1200 && chart.y + chart.height <= 1080, JSON.stringify(chart));
  await page.clock.runFor(13_000);
  await page.locator('.scene-table').waitFor();
  await page.getByRole('button', { name: 'Race' }).click();
  await page.clock.runFor(40_000);
  assert.equal(await page.locator('.scene-race').count(), 1, 'a scene that was chosen stays');

  const still = await visit({ viewport: { width: 1920, height: 1080 }, reducedMotion: 'reduce' });
  await still.clock.install();
  await go(still, url, '#/wall');
  await still.clock.runFor(40_000);
  assert.equal(await still.locator('.scene-table').count(), 1);
});
