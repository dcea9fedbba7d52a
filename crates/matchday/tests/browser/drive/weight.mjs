// The first view weighs less than 150 KB, everything counted.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  const measured = [];
  const measure = async (request) => [request.url(), (await (await request.response()).body()).length];
  const note = (request) => {
    if (!request.url().endsWith('api/events')) measured.push(measure(request));
  };
  page.on('requestfinished', note);
  await go(page, url, '#/');
  await page.waitForLoadState('load');
  page.off('requestfinished', note);
  const sizes = await Promise.all(measured);
  const weight = sizes.reduce((sum, [, size]) => sum + size, 0);
  assert.ok(sizes.length > 10 && weight < 150_000, `${weight} bytes: ${JSON.stringify(sizes)}`);
});
