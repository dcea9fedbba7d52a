// The list of a service and the page of a season: what is played, who leads, when the next league starts, how to join; on a desktop,
// by night, and on a phone.

import assert from 'node:assert/strict';
import { axe, scenario } from './browser.mjs';

const VIEWS = [
  { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
  { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
];

const folder = process.env.MATCHDAY_PICTURES;

await scenario(async ({ url, visit }) => {
  const page = await visit(VIEWS[0]);
  let weight = 0;
  page.on('response', async (response) => {
    const { length } = await response.body().catch(() => '');
    weight += length;
  });
  await page.goto(url);
  const row = (name) => page.getByRole('row').filter({ has: page.locator('a.title', { hasText: new RegExp(`^${name}$`) }) });
  await row('climbers').waitFor();
  await page.waitForLoadState('networkidle');
  assert.ok(weight > 10_000 && weight < 150_000, `the first view has ${weight} bytes`);

  assert.match(await row('climbers').textContent(), /Live/);
  assert.match(await row('climbers').textContent(), /Round \d+/);
  assert.doesNotMatch(await row('climbers').textContent(), /Round \d+ of/, 'a ladder has no last round');
  assert.match(await row('autumn').textContent(), /Finished.*1 match/);
  assert.equal(await row('autumn').getByRole('link', { name: /Player|Ada|Blaise|\w/ }).count() > 1, true, 'its first is linked');
  assert.match(await row('winter').textContent(), /Open/);
  assert.match(await row('nightly').textContent(), /next league (tonight|today|tomorrow) \d\d:\d\d/);
  assert.match(await row('nightly').textContent(), /1 league/);

  const join = page.getByRole('region', { name: 'Join a league' });
  const commands = await join.locator('code').allTextContents();
  assert.equal(commands.length, 3);
  assert.match(commands[0], /^matchday new player my-player --lang python --game even_odd$/);
  assert.match(commands[2], /--manager http.*\/leagues\/nightly\/mcp$/);
  await join.getByRole('combobox').selectOption('winter');
  await join.getByText('/leagues/winter/mcp').waitFor();

  // No command and no order of the operator is there.
  assert.equal(await page.getByRole('button', { name: /Manage|Create/ }).count(), 0);

  await row('nightly').getByRole('link', { name: 'nightly', exact: true }).click();
  await page.getByRole('table').waitFor();
  const first = page.getByRole('table').getByRole('link').first();
  const name = await first.textContent();
  await first.click();
  await page.getByRole('heading', { name }).waitFor();
  assert.match(await page.getByRole('table').textContent(), /nightly_1/);
  await page.getByRole('link', { name: 'nightly_1' }).click();
  await page.waitForSelector('main[data-shown^="#/players/"]');
  await page.getByRole('link', { name: 'All leagues' }).click();
  await row('climbers').waitFor();

  // A name that is meant to be markup stays a name.
  await page.getByRole('link', { name: 'winter', exact: true }).click();
  await page.getByText('<img src=x onerror=alert(1)>').waitFor();
  assert.equal(await page.locator('img[src=x]').count(), 0);

  for (const [number, view] of VIEWS.entries()) {
    const looked = await visit({ ...view, bypassCSP: true, reducedMotion: 'reduce' });
    for (const [what, path] of [
      ['service', 'leagues'],
      ['season', 'seasons/nightly'],
      ['career', `seasons/nightly#/players/${encodeURIComponent(name)}`],
      ['registration', 'leagues/winter/'],
      ['ladder', 'leagues/climbers/'],
    ]) {
      await looked.goto(`${url}${path}`);
      await looked.waitForSelector('main[data-shown] h1');
      const wide = await looked.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= view.viewport.width, `${path} is ${wide} wide`);
      // A ladder has more columns than others, and its names are read all the same.
      const names = await looked.locator('.standings .name').evaluateAll((all) => all.map((name) => name.offsetWidth));
      assert.ok(names.every((width) => width > 25), `${path}: names of ${names} px`);
      await looked.addScriptTag({ path: axe() });
      const { violations } = await looked.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
      assert.deepEqual(
        violations.map((fault) => `${what} ${number}: ${fault.id}: ${fault.nodes[0].html}`),
        [],
      );
      if (folder) await looked.screenshot({ path: `${folder}/${what}-${['desktop', 'dark', 'phone'][number]}.png`, fullPage: number === 2 });
    }
  }
});
