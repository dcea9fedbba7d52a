// A knockout is drawn as a bracket that ends with the final.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  const bracket = page.getByRole('region', { name: 'Bracket', exact: true });
  const rounds = await bracket.locator('.bracket-round').count();
  assert.ok(rounds >= 2, 'semifinals and final');
  const champion = await page.locator('.show-name .name').textContent();
  const last = bracket.locator('.bracket-round').last();
  assert.equal(await last.locator('.bracket-side.won .name').last().textContent(), champion);
  for (const heading of await page.locator('h1, h2, h3').allTextContents())
    assert.doesNotMatch(heading, /Round (\d+): Round \1/);
});
