// The end of a league: its champion, the podium, the awards, and a picture to share.

import { el, svg } from './dom.js';
import { save, savePng } from './download.js';
import { link } from './follow.js';
import { hue, who } from './parts.js';
import { gameName, plural, sentence } from './words.js';

const PLACES = { 1: 'First', 2: 'Second', 3: 'Third' };
const ICONS = { upset: '⚡', longest: '∞', fastest: '➤', luckiest: '✤' };

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
    share(league, champions, best),
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

const MEDALS = { 1: '#e0b33a', 2: '#b9c1c8', 3: '#cf9468' };
const HUES = ['#0067a5', '#b34a00', '#00785a', '#a0307a', '#5b5bd6', '#8a6d00', '#007a8a', '#6b4b3a'];

/** The end of the league in one picture, with colours of its own: it is looked at elsewhere. */
function picture(league, champions, best) {
  const text = (x, y, size, words, more = {}) =>
    svg('text', { x, y, 'font-size': size, 'text-anchor': 'middle', fill: '#1a211e', ...more }, words);
  const names = champions.map((champion) => champion.name || champion.id);
  const shown = names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
  const size = Math.max(28, Math.min(88, Math.floor(1700 / shown.length)));
  const steps = best.length > 3 ? [] : best;
  const step = (row, index) => {
    const x = 600 + [0, -260, 260][index];
    const high = { 1: 150, 2: 110, 3: 80 }[row.rank] ?? 80;
    return svg(
      'g',
      {},
      svg('rect', { x: x - 120, y: 540 - high, width: 240, height: high, rx: 12, fill: MEDALS[row.rank] ?? MEDALS[3] }),
      text(x, 540 - high / 2 + 16, 48, row.rank, { 'font-weight': 750 }),
      text(x, 540 - high - 18, 28, row.name || row.id, { 'font-weight': 650, fill: HUES[hue(row)] }),
    );
  };
  return svg(
    'svg',
    {
      viewBox: '0 0 1200 630',
      width: 1200,
      height: 630,
      'font-family': 'system-ui, -apple-system, Segoe UI, Roboto, sans-serif',
    },
    svg('rect', { width: 1200, height: 630, fill: '#f5f6f2' }),
    text(600, 90, 28, `${league.league_id} · ${gameName(league.game)}`, { fill: '#56615c' }),
    text(600, 150, 26, `★ ${names.length > 1 ? 'JOINT CHAMPIONS' : 'CHAMPION'} ★`, {
      fill: '#8a5a00',
      'font-weight': 700,
      'letter-spacing': 5,
    }),
    text(600, 245, size, shown, { 'font-weight': 700 }),
    steps.map(step),
    text(600, 600, 22, `${league.players} players, ${league.matches.decided} matches · Matchday`, { fill: '#56615c' }),
  );
}

function share(league, champions, best) {
  const name = `${league.league_id}-result`;
  const made = () => picture(league, champions, best);
  const file = () => {
    const text = new XMLSerializer().serializeToString(made());
    save(`${name}.svg`, new Blob([text], { type: 'image/svg+xml' }));
  };
  const address = `${location.origin}${location.pathname}`;
  const copy = (event) => {
    const button = event.currentTarget;
    navigator.clipboard.writeText(address).then(
      () => (button.textContent = 'Copied'),
      () => (button.textContent = 'Not allowed'),
    );
  };
  return el(
    'p',
    { class: 'share', key: 'share' },
    el('span', { class: 'muted' }, 'Share the result: '),
    el('button', { type: 'button', class: 'small', onclick: () => savePng(`${name}.png`, made()) }, 'Picture (PNG)'),
    el('button', { type: 'button', class: 'small', onclick: file }, 'Picture (SVG)'),
    navigator.clipboard ? el('button', { type: 'button', class: 'small', onclick: copy }, 'Copy the link') : null,
  );
}
