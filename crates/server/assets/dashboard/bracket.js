// The bracket of a knockout: a column for each stage, and in it each pair with its score over all games of the stage.

import { el } from './dom.js';
import { link } from './follow.js';
import { who } from './parts.js';

export const isKnockout = (league) => /knockout/.test(league.format ?? '');

const MATCHES_MAX = 100;
const stageOf = (round) => (round.title ?? `Round ${round.round}`).split(',')[0];

/** Every round of the knockout with its matches. Those that are over are kept in `memory`, and not asked for again. */
export function loadBracket(ask, rounds, memory) {
  memory.over ??= new Map();
  const knockout = rounds.filter((round) => !stageOf(round).startsWith('Group'));
  return Promise.all(
    knockout.map(async (round) => {
      const known = memory.over.get(round.round) ?? (await ask(`rounds/${round.round}`, { limit: MATCHES_MAX }));
      if (known.state === 'completed') memory.over.set(round.round, known);
      return known;
    }),
  );
}

/** The pairs of each stage; a pair may have played several games. */
function stages(rounds) {
  const all = new Map();
  for (const round of rounds) {
    const pairs = all.get(stageOf(round)) ?? new Map();
    all.set(stageOf(round), pairs);
    for (const match of round.matches) {
      const key = [match.a.id, match.b.id].sort().join(' ');
      const pair = pairs.get(key) ?? { key, a: match.a, b: match.b, score: {}, games: [] };
      for (const { id } of [match.a, match.b]) pair.score[id] = (pair.score[id] ?? 0) + (match.score?.[id] ?? 0);
      pair.games.push(match);
      pairs.set(key, pair);
    }
  }
  return [...all].map(([title, pairs]) => ({ title, pairs: [...pairs.values()] }));
}

/** Who goes on: the player that is in the next stage; in the last one the champion, or who has won it. */
function through({ a, b, score, games }, next, champion) {
  const goesOn = [a, b].filter(({ id }) => next?.pairs.some((pair) => [pair.a.id, pair.b.id].includes(id)));
  if (goesOn.length === 1) return goesOn[0].id;
  if ([a.id, b.id].includes(champion)) return champion;
  if (games.some((game) => game.state !== 'decided') || score[a.id] === score[b.id]) return null;
  return score[a.id] > score[b.id] ? a.id : b.id;
}

function box(pair, winner) {
  const decided = pair.games.some((game) => game.state === 'decided');
  const side = (player) =>
    el(
      'span',
      { class: `bracket-side${winner === player.id ? ' won' : winner ? ' lost' : ''}` },
      who(player),
      el('b', {}, decided ? pair.score[player.id] : ''),
      winner === player.id ? el('span', { class: 'unseen' }, ' goes on') : null,
    );
  const playing = pair.games.some((game) => game.state === 'playing');
  return el(
    'li',
    { class: `pair${playing ? ' playing' : ''}`, key: pair.key },
    side(pair.a),
    side(pair.b),
    el(
      'span',
      { class: 'pair-games' },
      pair.games.map((game) => el('a', { href: link('matches', game.id), key: game.id }, game.id)),
    ),
  );
}

export function bracket(rounds, league) {
  if (!rounds?.length) return null;
  const all = stages(rounds);
  return el(
    'section',
    { class: 'card', key: 'bracket', 'aria-labelledby': 'bracket-title' },
    el('h2', { id: 'bracket-title' }, 'Bracket'),
    el(
      'div',
      { class: 'bracket scroll-x', tabindex: 0, role: 'group', 'aria-label': 'Stages, scrolls' },
      all.map(({ title, pairs }, index) =>
        el(
          'div',
          { class: 'bracket-round', key: title },
          el('h3', {}, title),
          el(
            'ol',
            {},
            pairs.map((pair) => box(pair, through(pair, all[index + 1], league.champion?.id))),
          ),
        ),
      ),
    ),
  );
}
