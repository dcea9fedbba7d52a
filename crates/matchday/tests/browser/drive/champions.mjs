// All who share the title are shown, on the page and on the wall.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  for (const hash of ['#/', '#/wall']) {
    await go(page, url, hash);
    const show = page.locator('.show');
    await show.waitFor();
    assert.match(await show.textContent(), /Joint champions/);
    assert.equal(await show.locator('.show-name .name').count(), 4, hash);
  }
});
