// A league that is not open to readers shows nothing but the way in, which is the operator's token.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

const TOKEN = process.argv[3];

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  await page.getByRole('heading', { name: 'Shown to its operator alone' }).waitFor();
  assert.ok(!(await page.textContent('body')).includes('Ada'), 'no name is shown');

  const form = page.locator('main form');
  await form.getByLabel('Operator token').fill('tok_operator_guessed');
  await form.getByRole('button').click();
  await form.getByRole('status').filter({ hasText: /token/ }).waitFor();

  await form.getByLabel('Operator token').fill(TOKEN);
  await form.getByRole('button').click();
  await page.locator('main').getByText('Ada').waitFor();
});
