// Before the start a league shows who is there, who is missing and who is reached; names that are not here yet, and commands that
// need a token, are for the operator.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

const TOKEN = process.argv[3];

await scenario(async ({ url, visit }) => {
  const at = `${url}leagues/class/`;
  const page = await visit({ viewport: { width: 1440, height: 900 } });
  await go(page, at, '#/');
  const joined = page.getByRole('region', { name: 'Who has joined' });
  const row = (name) => joined.getByRole('listitem').filter({ hasText: name });
  await row('Ann Lee').getByText('reachable').waitFor();
  await row('Bob Roy').getByText('not reached').waitFor();
  assert.match(await joined.textContent(), /2 of 3 on the roster, 1 not reached/);
  await joined.getByRole('heading', { name: 'Missing (1)' }).waitFor();
  assert.equal(await page.getByText('Cleo').count(), 0);
  const commands = await page.locator('code').allTextContents();
  assert.ok(!commands.some((line) => /matchday (start|admin)/.test(line)), `${commands}`);

  await page.getByRole('button', { name: 'Operator' }).click();
  const panel = page.locator('#panel');
  await panel.getByLabel('Operator token').fill(TOKEN);
  await panel.getByRole('button', { name: 'Use this token' }).click();
  await panel.getByRole('button', { name: 'Close' }).click();
  await joined.getByText('Cleo').waitFor();
  await page.getByText(/^matchday start/).waitFor();
  // The tab keeps the token through a reload.
  await page.reload();
  await joined.getByText('Cleo').waitFor();
});
