// Charts of the league: the points race, the ratings, how long the answers took.

import { histogram } from './charts.js';
import { el, svg } from './dom.js';
import { saveChart } from './download.js';
import { chartWidth, race } from './lines.js';
import { empty, head, who } from './parts.js';
import { duration, number } from './words.js';

export const topics = ['standings'];
export const pace = 1500;
export const title = () => 'Charts';

export async function load(ask) {
  const [points, standings, latency] = await Promise.all([ask('race'), ask('standings'), ask('latency')]);
  return { points, standings, latency };
}

export function view({ points, standings, latency }) {
  const card = (name, ...content) => el('section', { class: 'card', key: name }, el('h2', {}, name), content);
  return [
    head('Charts', el('p', { class: 'muted' }, 'Each can be saved as a picture, and its numbers as CSV.')),
    el(
      'div',
      { class: 'cards wide-cards', key: 'charts' },
      card('Points race', race(points) ?? empty('The race begins with the first result.')),
      card(
        'Ratings',
        ratings(standings.rows) ??
          empty(standings.ratings_pending ? 'The ratings are being computed.' : 'Ratings follow from results.'),
      ),
      card(
        'Answer times of the league',
        latency.count ? histogram(latency) : empty('No answers have been recorded.'),
        latency.players.length ? slowest(latency) : null,
      ),
    ),
  ];
}

const [ROW, LEFT, RIGHT] = [20, 130, 50];

/** Each rating as a dot with its interval, on one scale. */
function ratings(rows) {
  const rated = rows.filter((row) => row.rating).sort((a, b) => b.rating.value - a.rating.value);
  if (!rated.length) return null;
  const low = Math.min(...rated.map((row) => row.rating.low));
  const high = Math.max(...rated.map((row) => row.rating.high));
  const width = chartWidth();
  const x = (value) => LEFT + ((value - low) / Math.max(high - low, 1)) * (width - LEFT - RIGHT);
  const height = rated.length * ROW + 20;
  return el(
    'figure',
    { class: 'chart', key: 'ratings' },
    svg(
      'svg',
      {
        viewBox: `0 0 ${width} ${height}`,
        role: 'img',
        'aria-label': `Ratings from ${rated[0].name}, ${rated[0].rating.value}, to ${rated.at(-1).name}, ${rated.at(-1).rating.value}`,
      },
      rated.map((row, index) => {
        const y = index * ROW + 14;
        const { value, low: from, high: to } = row.rating;
        return svg(
          'g',
          { key: row.id },
          svg(
            'text',
            { class: 'axis', x: LEFT - 8, y: y + 4, 'text-anchor': 'end' },
            row.name.length > 20 ? `${row.name.slice(0, 19)}…` : row.name,
          ),
          svg('line', { class: 'range s0', x1: x(from), x2: x(to), y1: y, y2: y }),
          svg('circle', { class: 'dot s0', cx: x(value), cy: y, r: 4.5 }),
          svg('text', { class: 'axis', x: width - RIGHT + 10, y: y + 4 }, value),
        );
      }),
    ),
    el(
      'figcaption',
      { class: 'muted' },
      'Bradley-Terry ratings with their 95 % intervals. ',
      saveChart('ratings', () => [
        ['player', 'rating', 'low', 'high'],
        ...rated.map((row) => [row.name, row.rating.value, row.rating.low, row.rating.high]),
      ]),
    ),
  );
}

const SLOWEST_MAX = 12;

function slowest({ players, deadline_ms: deadline }) {
  return el(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Slowest players, scrolls' },
    el(
      'table',
      {},
      el('caption', {}, 'The slowest', el('small', {}, `the deadline is ${duration(deadline)}`)),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          ['Player', 'Answers', 'Half within', '99 % within', 'Longest', 'None'].map((name, index) =>
            el('th', { scope: 'col', class: index ? 'n' : null }, name),
          ),
        ),
      ),
      el(
        'tbody',
        {},
        players.slice(0, SLOWEST_MAX).map((one) =>
          el(
            'tr',
            { key: one.id },
            el('th', { scope: 'row' }, who(one)),
            [number(one.count), duration(one.p50_ms), duration(one.p99_ms), duration(one.longest_ms), one.late].map(
              (value) => el('td', { class: 'n' }, value),
            ),
          ),
        ),
      ),
    ),
  );
}
