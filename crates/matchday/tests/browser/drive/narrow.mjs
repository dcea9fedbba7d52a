// On the narrowest phone nothing lies beside the page.

import assert from 'node:assert/strict';
import { go, PAGES, scenario, unfold } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit({ viewport: { width: 360, height: 740 } });
  for (const hash of PAGES) {
    await go(page, url, hash);
    await unfold(page);
    const wide = await page.evaluate(() => [document.documentElement.scrollWidth, document.body.scrollWidth]);
    assert.ok(Math.max(...wide) <= 360, `${hash} is ${wide} wide`);
  }
});
