// The first view weighs less than 150 KB, everything counted.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  const sizes = [];
  page.on('requestfinished', async (request) => {
    const response = await request.response();
    if (!request.url().endsWith('api/events')) sizes.push([request.url(), (await response.body()).length]);
  });
  await go(page, url, '#/');
  await page.waitForLoadState('load');
  const weight = sizes.reduce((sum, [, size]) => sum + size, 0);
  assert.ok(sizes.length > 10 && weight < 150_000, `${weight} bytes: ${JSON.stringify(sizes)}`);
});
