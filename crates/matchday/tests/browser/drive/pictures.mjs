// Takes the pictures of the tutorial, and writes down what stands on them: navigation and headings.

import { writeFileSync } from 'node:fs';
import { go, scenario } from './browser.mjs';

const PICTURES = [
  ['table', '#/'],
  ['round', '#/rounds/1'],
  ['match', '#/matches/R1M1'],
  ['player', '#/players/P01'],
  ['cross', '#/cross'],
];

await scenario(async ({ url, visit }) => {
  const folder = process.argv[3];
  const page = await visit({ viewport: { width: 1100, height: 720 }, colorScheme: 'light', reducedMotion: 'reduce' });
  const seen = [];
  for (const [name, hash] of PICTURES) {
    await go(page, url, hash);
    await page.screenshot({ path: `${folder}/${name}.png`, animations: 'disabled' });
    const words = await page.evaluate(() =>
      [...document.querySelectorAll('nav a, h1')].map((element) => element.textContent.trim()),
    );
    // Which player stands where, and in which round, is the league's own.
    const lasting = words.filter((word) => word && !/^(P?\d+|Round \d+)$/.test(word));
    seen.push(`${name}: ${lasting.join(' | ')}`);
  }
  writeFileSync(`${folder}/pictures.txt`, seen.join('\n') + '\n');
});
