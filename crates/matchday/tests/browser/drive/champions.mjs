// All who share the title are shown, on the page, on the wall and in the report.

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

  // Nor are their names broken in the report on a phone.
  const text = await page.evaluate(async () => (await fetch('api/report')).text());
  const report = await visit({ viewport: { width: 390, height: 844 } });
  await report.setContent(text);
  const champions = await report
    .locator('.champion bdi')
    .evaluateAll((names) => names.map((name) => name.getClientRects().length));
  assert.ok(champions.length && champions.every((lines) => lines <= 2), `${champions}`);
});
