// axe-core finds no serious or critical fault on any page, by day and by night, on a desk and in the hand.

import assert from 'node:assert/strict';
import { axe, go, PAGES, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const found = [];
  for (const colorScheme of ['light', 'dark']) {
    for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
      // axe-core is put into the page by the test, past the page's own policy.
      const page = await visit({ colorScheme, viewport, bypassCSP: true });
      for (const hash of PAGES) {
        await go(page, url, hash);
        await page.addScriptTag({ path: axe() });
        const { violations, passes } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
        assert.ok(passes.length > 10, `axe-core has looked at ${hash}`);
        for (const fault of violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')) {
          found.push(`${hash} ${colorScheme} ${viewport.width}: ${fault.id}: ${fault.help}: ${fault.nodes.slice(0, 3).map((node) => node.html).join(' ')}`);
        }
      }
      await page.context().close();
    }
  }
  assert.deepEqual(found, []);
});
