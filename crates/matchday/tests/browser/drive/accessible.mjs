// axe-core finds no fault on any page.
//
//     node accessible.mjs URL light|dark WIDTH

import assert from 'node:assert/strict';
import { axe, go, PAGES, scenario } from './browser.mjs';

const [colorScheme, width] = [process.argv[3], Number(process.argv[4])];

await scenario(async ({ url, visit }) => {
  const found = [];
  // axe-core is put into the page by the test, past the page's own policy.
  const page = await visit({ colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
  await go(page, url, '#/');
  await page.addScriptTag({ path: axe() });
  for (const hash of PAGES) {
    await go(page, url, hash);
    const { violations, passes } = await page.evaluate(() =>
      globalThis.axe.run(document, { resultTypes: ['violations'] }),
    );
    assert.ok(passes.length > 10, `axe-core has looked at ${hash}`);
    for (const fault of violations) {
      found.push(
        `${hash}: ${fault.id}: ${fault.help}: ${fault.nodes
          .slice(0, 3)
          .map((node) => node.html)
          .join(' ')}`,
      );
    }
  }
  assert.deepEqual(found, []);
});
