// The browser recomputes a draw from what was revealed, and comes to the number that the referee reported.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/matches/R1M1');
  const draw = page.getByRole('region', { name: 'The number' });
  const number = await draw.locator('.drawn b').textContent();
  assert.match(
    await draw.textContent(),
    new RegExp(`the secret is the one that was promised, and it gives ${number}\\.`),
  );
  assert.match(await draw.textContent(), /matchday verify/);

  // The same code finds a number that was changed afterwards, and the example of the protocol.
  const [changed, example] = await page.evaluate(async () => {
    const { commitment, drawn, recomputed } = await import('./assets/draw.js');
    const league = await (await fetch('api/league')).json();
    const match = await (await fetch('api/matches/R1M1')).json();
    match.draw.number = (match.draw.number % 10) + 1;
    const secret = Array.from({ length: 32 }, (_, byte) => byte.toString(16).padStart(2, '0')).join('');
    return [
      (await recomputed(league.league_id, match)).holds,
      [
        await commitment('league_2025_even_odd', 'R1M1', 1, secret),
        await drawn('league_2025_even_odd', 'R1M1', 1, secret, 'red', 'purple', 1, 10),
      ],
    ];
  });
  assert.equal(changed, false);
  assert.deepEqual(example, ['ff969728639875bd72723d19ce8eb6e0bd73009efefcbda4ccc7c175ded18edb', 4]);
});
