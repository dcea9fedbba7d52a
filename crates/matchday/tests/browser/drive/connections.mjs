// Before the start it is said how the league reaches each agent, and since when; the referees say it always.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  const joined = page.getByRole('region', { name: 'Who has joined' });
  const row = (name) => joined.getByRole('listitem').filter({ hasText: name });
  await row('Direct').getByText('reachable').waitFor();
  await row('Dialled').getByText('connected', { exact: true }).waitFor();
  assert.match(await row('Dialled').textContent(), /since \d/);

  await go(page, url, '#/referees');
  assert.equal(await page.locator('td[data-name="Via"]').textContent(), 'direct');
});
