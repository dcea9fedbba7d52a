// The operator of a service does all of it in the browser, wherever the page is asked for: at a service that has the league, at one that
// forwards what it is asked, and behind a proxy that speaks TLS.
//
//     node crossings.mjs URL TOKEN [URL-OF-THE-SERVICE CERTIFICATE KEY]

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import { axe, say, scenario } from './browser.mjs';

const [, , address, TOKEN, service, cert, key] = process.argv;

/** What stands before a service in a lab: it ends TLS, and says for whom it asks. */
function proxy() {
  const forward = (asked, answer) => {
    const headers = { ...asked.headers, 'x-forwarded-for': asked.socket.remoteAddress, 'x-forwarded-proto': 'https' };
    const onward = request(new URL(asked.url, service), { method: asked.method, headers }, (given) => {
      answer.writeHead(given.statusCode, given.headers);
      given.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    asked.pipe(onward);
  };
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, forward);
  server.listen(Number(new URL(address).port), '127.0.0.1');
  return server;
}

await scenario(async ({ url, visit }) => {
  const before = service ? proxy() : null;
  const page = await visit({ viewport: { width: 1440, height: 900 }, bypassCSP: true, ignoreHTTPSErrors: true });
  const panel = page.locator('#panel');
  const confirm = page.locator('#confirm');
  const agreed = (name) => confirm.getByRole('button', { name, exact: true }).click();
  const row = (name) => page.getByRole('row').filter({ has: page.locator('a.title', { hasText: new RegExp(`^${name}$`) }) });
  const list = async () => {
    await page.goto(`${url}leagues`);
    await page.waitForSelector('main[data-shown]');
  };
  const manage = async (name) => {
    await page.getByRole('button', { name: `Manage ${name}` }).click();
    await panel.getByRole('heading', { name, exact: true }).waitFor();
    await panel.getByRole('button', { name: 'Change the settings' }).waitFor();
  };
  const accessible = async (what) => {
    await page.addScriptTag({ path: axe() });
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
    assert.deepEqual(violations.map((fault) => `${what}: ${fault.id}: ${fault.nodes[0].html}`), []);
  };
  const create = async (name, { format, settings, kind = 'league' }) => {
    await list();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    if (kind !== 'league') await panel.getByLabel('What it is').selectOption(kind);
    await panel.getByLabel('Name', { exact: false }).first().fill(name);
    if (format) await panel.getByLabel('Format').selectOption(format);
    await panel.getByText('More settings').click();
    await panel.getByLabel('One setting a line').fill(`lead = 0\nendpoint-check = off\n${settings ?? ''}`);
    await panel.getByRole('button', { name: `Create the ${kind}` }).click();
    await agreed('Create');
    await panel.getByRole('heading', { name: `${name} is created` }).waitFor();
  };

  await list();
  await page.getByRole('button', { name: 'Operator' }).click();
  await panel.getByLabel('Service token').fill(TOKEN);
  await panel.getByRole('button', { name: 'Use this token' }).click();
  await page.getByRole('button', { name: 'Create', exact: true }).waitFor();

  // A ladder: nobody registers while registration is closed.
  await create('climbers', { format: 'ladder', settings: 'matches-per-hour = 5000' });
  await list();
  await manage('climbers');
  await accessible('a league');
  await panel.getByRole('button', { name: 'Close registration' }).click();
  await agreed('Close registration');
  await page.getByText('Registration of climbers is closed.').waitFor();
  await row('climbers').getByText('Closed').waitFor();
  await row('climbers').getByRole('link', { name: 'climbers' }).click();
  await page.getByText('Registration is closed').waitFor();
  say('closed');
  await list();
  await manage('climbers');
  await panel.getByRole('button', { name: 'Open registration' }).click();
  await agreed('Open registration');
  await row('climbers').getByText('Open').waitFor();
  await manage('climbers');
  await panel.getByLabel('Agents from one address').fill('7');
  await panel.getByRole('button', { name: 'Change the settings' }).click();
  assert.match(await confirm.textContent(), /agents-per-address = 7/);
  await agreed('Change the settings');
  await page.getByText('The settings of climbers are changed.').waitFor();
  say('open');

  // It is started, paused, resumed and ended on its own page, with the token that was made for it.
  await page.goto(`${url}leagues/climbers/`);
  await page.getByRole('listitem').filter({ hasText: 'P02' }).waitFor();
  await page.getByRole('button', { name: 'Operator' }).click();
  for (const [name, after] of [['Start the league', 'Pause'], ['Pause', 'Resume'], ['Resume', 'End the league'], ['End the league', 'Void the match']]) {
    await panel.getByRole('button', { name, exact: true }).click();
    await agreed(name);
    await panel.getByRole('button', { name: after, exact: true }).waitFor();
    if (name === 'Resume') await page.waitForFunction(() => /[1-9]\d* matches decided/.test(document.getElementById('state').textContent));
  }
  await accessible('the panel of a league');
  await page.getByRole('button', { name: 'Close', exact: true }).click();

  // It is archived, is on the list no more, and comes back out of its file.
  await list();
  await row('climbers').getByText('Finished').waitFor();
  await manage('climbers');
  await panel.getByRole('button', { name: 'Archive' }).click();
  await agreed('Archive');
  const said = await page.getByText('climbers is archived as').textContent();
  const [, file] = said.match(/archived as (.+)\.$/);
  await row('climbers').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await panel.getByLabel('What it is').selectOption('file');
  await accessible('the form of an import');
  await panel.locator('input[name=file]').fill(file);
  await panel.getByRole('button', { name: 'Import the league' }).click();
  await agreed('Import');
  await page.getByText('climbers is imported.').waitFor();
  await row('climbers').getByText('Finished').waitFor();

  // A season: its league starts when it is told to, its schedule is changed, and it ends.
  await create('nightly', { kind: 'season' });
  say('season');
  await page.goto(`${url}seasons/nightly`);
  await page.getByRole('button', { name: 'Change the schedule' }).click();
  await panel.getByLabel('Start of each league').fill('0 20 * * *');
  await panel.getByRole('button', { name: 'Change the schedule' }).click();
  await agreed('Change the schedule');
  await page.getByText(/the next league starts/).waitFor();
  say('scheduled');
  await page.getByRole('button', { name: 'Start the league now' }).click();
  await agreed('Start the league now');
  await page.getByRole('region', { name: 'Table' }).getByRole('row').nth(2).waitFor();
  await page.getByRole('button', { name: 'End the season' }).click();
  await agreed('End the season');
  await page.getByText('the season is over').waitFor();

  // A league that is not open to readers is on no list, and shows nothing without its token.
  await create('closed', { settings: 'public-reads = off' });
  const stranger = await visit({ ignoreHTTPSErrors: true });
  await stranger.goto(`${url}leagues`);
  await stranger.locator('a.title', { hasText: /^climbers$/ }).waitFor();
  assert.equal(await stranger.getByText('closed', { exact: true }).count(), 0);
  await stranger.goto(`${url}leagues/closed/`);
  await stranger.getByLabel('Operator token').waitFor();
  await list();
  await row('closed').getByText('Open').waitFor();
  await page.goto(`${url}leagues/closed/`);
  await page.getByRole('heading', { name: 'Waiting for agents' }).waitFor();

  // Another page cannot give orders, whatever token it has.
  const answer = await page.request.fetch(`${url}api/leagues/closed`, {
    method: 'DELETE',
    headers: { origin: 'https://elsewhere.example', authorization: `Bearer ${TOKEN}` },
    ignoreHTTPSErrors: true,
  });
  assert.equal(answer.status(), 403);
  before?.close();
  before?.closeAllConnections();
});
