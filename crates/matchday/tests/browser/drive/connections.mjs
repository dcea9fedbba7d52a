// The table and the referees say how the league reaches each agent, and since when.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  await page.getByRole('button', { name: 'Via: How the league reaches it' }).waitFor();
  const cell = (name) => page.locator('table.standings tbody tr', { hasText: name }).locator('td').nth(-2);
  assert.equal(await cell('Direct').textContent(), 'direct');
  assert.equal(await cell('Dialled').textContent(), 'stream');
  assert.match(await cell('Dialled').locator('span').getAttribute('title'), /^connected since \d/);

  await go(page, url, '#/referees');
  assert.equal(await page.locator('td[data-name="Via"]').textContent(), 'direct');
});
