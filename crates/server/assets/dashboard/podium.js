// The end of a league: its champion, the podium, the awards.

import { el } from './dom.js';
import { link } from './follow.js';
import { who } from './parts.js';
import { plural, sentence } from './words.js';

const PLACES = { 1: 'First', 2: 'Second', 3: 'Third' };
const ICONS = { upset: '⚡', longest: '∞', fastest: '➤', without_play: '✤' };

export function podium(league, rows) {
  const champions = league.joint_champions?.length
    ? league.joint_champions
    : [league.champion ?? rows.find((row) => row.rank === 1)].filter(Boolean);
  // All who share the first place stand on it, however many they are.
  const level = rows.filter((row) => row.rank === 1);
  const best = level.length > 3 ? level : rows.filter((row) => row.rank <= 3).slice(0, 3);
  if (!best.length) return null;
  const crowded = best.length > 3;
  return el(
    'section',
    { class: 'show', key: 'show', 'aria-labelledby': 'show-title' },
    el('p', { class: 'show-champion' }, champions.length > 1 ? 'Joint champions' : 'Champion'),
    el(
      'h2',
      { id: 'show-title', class: `show-name${champions.length > 1 ? ' shared' : ''}` },
      champions.map((champion) => who(champion)),
    ),
    crowded ? null : el(
      'ol',
      { class: 'podium' },
      best.map((row, index) =>
        el(
          'li',
          { class: `step step-${index + 1} place-${row.rank}`, key: row.id },
          el('span', { class: 'step-who' }, who(row)),
          el('span', { class: 'step-points' }, plural(row.points, 'point')),
          el(
            'span',
            { class: 'step-block', role: 'img', 'aria-label': `${PLACES[row.rank] ?? `Place ${row.rank}`}` },
            el('span', { 'aria-hidden': 'true' }, row.rank),
          ),
        ),
      ),
    ),
    league.awards?.length
      ? el(
          'ul',
          { class: 'awards' },
          league.awards.map((award) =>
            el(
              'li',
              { class: 'award', key: award.kind },
              el('span', { class: 'award-icon', 'aria-hidden': 'true' }, ICONS[award.kind] ?? '★'),
              el('h3', {}, award.title),
              el(
                'p',
                { class: 'award-who' },
                award.players.map((player, index) => [index ? ' and ' : null, who(player)]),
              ),
              el('p', { class: 'muted' }, sentence(award.why)),
              award.match_id ? el('a', { href: link('matches', award.match_id) }, `See ${award.match_id}`) : null,
            ),
          ),
        )
      : null,
  );
}
