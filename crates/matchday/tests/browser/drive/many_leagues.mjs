// A list of a thousand leagues comes in pages, at once.

import assert from 'node:assert/strict';
import { scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit({ viewport: { width: 1440, height: 900 } });
  const rows = page.locator('.listing tbody tr');
  await page.goto(`${url}leagues`);
  await rows.first().waitFor();
  assert.equal(await rows.count(), 50);
  const taken = await page.evaluate(() => performance.getEntriesByName(`${location.origin}/api/leagues?limit=50`)[0].duration);
  // Every league of the page was read for the first time; a second is the patience of a reader.
  await page.reload();
  await rows.first().waitFor();
  const again = await page.evaluate(() => performance.getEntriesByName(`${location.origin}/api/leagues?limit=50`)[0].duration);
  assert.ok(taken < 10_000 && again < 1_000, `${taken} ms, then ${again} ms`);
  await page.getByText('50 leagues of 1,000').waitFor();
  await page.getByRole('link', { name: 'Next page' }).click();
  await page.getByRole('link', { name: 'league-0050' }).waitFor();
  await page.getByRole('link', { name: 'First page' }).click();
  await page.getByRole('searchbox').fill('0777');
  await page.waitForFunction(() => document.querySelectorAll('.listing tbody tr').length === 1);
  assert.match(page.url(), /leagues\?search=0777$/);
  await page.getByRole('link', { name: 'league-0777' }).waitFor();
});
