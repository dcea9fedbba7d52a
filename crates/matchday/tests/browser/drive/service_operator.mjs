// The operator of a service creates a league by a form, steers it on its page without typing its token, and removes it. Nothing is
// sent before it is confirmed; the token stands in a header, and in this tab's storage alone.

import assert from 'node:assert/strict';
import { axe, scenario } from './browser.mjs';

const TOKEN = process.argv[3];

await scenario(async ({ url, visit }) => {
  const page = await visit({ viewport: { width: 1440, height: 900 }, bypassCSP: true });
  const sent = [];
  page.on('request', (request) => {
    if (!['GET', 'HEAD'].includes(request.method())) sent.push(request);
  });
  await page.goto(`${url}leagues`);
  await page.getByText('No leagues to show').waitFor();
  await page.getByRole('button', { name: 'Operator' }).click();
  const panel = page.locator('#panel');
  await panel.getByLabel('Service token').fill('tok_service_guessed');
  await panel.getByRole('button', { name: 'Use this token' }).click();
  await panel.getByText('not the service token').waitFor();
  await panel.getByLabel('Service token').fill(TOKEN);
  await panel.getByRole('button', { name: 'Use this token' }).click();
  await page.getByRole('button', { name: 'Create', exact: true }).click();

  await panel.getByLabel('Name', { exact: false }).first().fill('class');
  await panel.getByLabel('Game').selectOption('connect_four');
  await panel.getByLabel('Roster').fill('Ann Lee\n<b>Bob</b>');
  await page.addScriptTag({ path: axe() });
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  assert.deepEqual(violations.map((fault) => `${fault.id}: ${fault.nodes[0].html}`), []);
  await panel.getByRole('button', { name: 'Create the league' }).click();
  const confirm = page.locator('#confirm');
  assert.match(await confirm.textContent(), /class is created, with join codes for 2 names/);
  await confirm.getByRole('button', { name: 'Cancel' }).click();
  assert.deepEqual(sent, [], 'nothing is sent before it is confirmed');
  await panel.getByRole('button', { name: 'Create the league' }).click();
  await confirm.getByRole('button', { name: 'Create', exact: true }).click();
  await panel.getByRole('heading', { name: 'class is created' }).waitFor();
  assert.equal(sent.length, 1);
  assert.equal(sent[0].headers().authorization, `Bearer ${TOKEN}`);
  assert.equal(await panel.getByText(/\/leagues\/class\/join\/tok_join_/).count(), 2, 'each name has its join code');
  assert.equal(await panel.locator('b').filter({ hasText: /^Bob$/ }).count(), 0, 'a name is no markup');

  // Its page knows who comes.
  await panel.getByRole('link', { name: 'Open its page as its operator' }).click();
  await page.getByRole('heading', { name: 'Missing (2)' }).waitFor();
  await page.getByText('<b>Bob</b>').waitFor();
  await page.getByRole('button', { name: 'Operator' }).click();
  await panel.getByRole('button', { name: 'Start the league' }).waitFor();
  await panel.locator('form').filter({ hasText: 'Add to the roster' }).getByRole('textbox').fill('Cleo');
  await panel.getByRole('button', { name: 'Add to the roster' }).click();
  await confirm.getByRole('button', { name: 'Add to the roster' }).click();
  await panel.getByText(/^tok_join_/).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Missing (3)' }).waitFor();
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, document.cookie, location.href, document.documentElement.outerHTML]),
  );
  assert.ok(!kept.includes(TOKEN) && !kept.includes('tok_operator'), 'the tokens are in no other storage, address or document');

  // Another tab has no token.
  const other = await visit();
  await other.goto(`${url}leagues/class/`);
  await other.getByText('Their names are shown to the operator').waitFor();
  assert.equal(await other.getByText('Ann Lee').count(), 0);
  assert.equal(await other.getByText('matchday start').count(), 0);

  await page.getByRole('link', { name: 'All leagues' }).click();
  await page.getByRole('button', { name: 'Manage class' }).click();
  await panel.getByRole('button', { name: 'Remove' }).click();
  await confirm.getByRole('button', { name: 'Remove for good' }).click();
  await page.getByText('class is removed.').waitFor();
  await page.getByText('No leagues to show').waitFor();

  // A season is steered on its page.
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await panel.getByLabel('What it is').selectOption('season');
  await panel.getByLabel('Name', { exact: false }).first().fill('nightly');
  await panel.getByLabel('Start of each league').fill('0 20 * * *');
  await panel.getByRole('button', { name: 'Create the season' }).click();
  await confirm.getByRole('button', { name: 'Create', exact: true }).click();
  await panel.getByRole('heading', { name: 'nightly is created' }).waitFor();
  await page.goto(`${url}seasons/nightly`);
  await page.getByRole('button', { name: 'Pause the season' }).click();
  await confirm.getByRole('button', { name: 'Pause the season' }).click();
  await page.getByRole('button', { name: 'Resume the season' }).waitFor();
  await page.getByRole('button', { name: 'End the season' }).click();
  await confirm.getByRole('button', { name: 'End the season' }).click();
  await page.getByText('the season is over').waitFor();
  await page.getByRole('button', { name: 'Forget the token' }).click();
  assert.ok(!(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).includes(TOKEN));
});
