// Orders need the token, ask before they do anything, and are answered in words; the token is kept for the tab alone.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

const TOKEN = process.argv[3];

await scenario(async ({ url, visit }) => {
  const page = await visit();
  const orders = [];
  page.on('request', (request) => request.method() === 'POST' && orders.push(request.headers().authorization));
  await go(page, url, '#/');
  await page.getByRole('button', { name: 'Operator' }).click();
  const panel = page.getByRole('dialog', { name: 'Operator' });
  assert.equal(
    await panel.getByRole('button', { name: 'Start the league' }).count(),
    0,
    'nothing can be ordered without the token',
  );

  await panel.getByLabel('Operator token').fill('tok_operator_guessed');
  await panel.getByRole('button', { name: 'Use this token' }).click();
  await panel.getByText('not the operator token').waitFor();
  assert.equal(await panel.getByRole('button', { name: 'Start the league' }).count(), 0);

  await panel.getByLabel('Operator token').fill(TOKEN);
  await panel.getByRole('button', { name: 'Use this token' }).click();
  await panel.getByRole('button', { name: 'Start the league' }).click();
  const confirm = page.getByRole('dialog', { name: 'Start the league?' });
  assert.match(await confirm.textContent(), /Registration is closed/);
  assert.deepEqual(orders, [], 'nothing is ordered before it is confirmed');
  await confirm.getByRole('button', { name: 'Cancel' }).click();
  assert.deepEqual(orders, []);

  await panel.getByRole('button', { name: 'Start the league' }).click();
  await confirm.getByRole('button', { name: 'Start the league' }).click();
  await panel.getByRole('status').filter({ hasText: /\w{4}/ }).waitFor();
  await panel.getByRole('button', { name: 'Pause' }).waitFor();
  assert.deepEqual(orders, [`Bearer ${TOKEN}`]);

  const kept = await page.evaluate(() =>
    JSON.stringify([
      { ...localStorage },
      document.cookie,
      location.href,
      document.documentElement.outerHTML,
    ]),
  );
  assert.ok(!kept.includes(TOKEN), 'the token is in no lasting storage, address or document');
  await page.reload();
  await page.getByRole('button', { name: 'Operator' }).click();
  await panel.getByRole('button', { name: 'Pause' }).waitFor();
  await panel.getByRole('button', { name: 'Forget the token' }).click();
  await panel.getByLabel('Operator token').waitFor();
  const other = await visit();
  await go(other, url, '#/');
  await other.getByRole('button', { name: 'Operator' }).click();
  await other.getByRole('dialog', { name: 'Operator' }).getByLabel('Operator token').waitFor();
});
