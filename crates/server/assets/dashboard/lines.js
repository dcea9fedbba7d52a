// Line charts: the points race of many players, and the pairing ratings of one. Level lines are dashed over each other.

import { el, svg } from './dom.js';
import { saveChart } from './download.js';
import { following } from './follow.js';
import { hue } from './parts.js';
import { number } from './words.js';

const HUES = 8;
/** The room for the names at the end of the lines. */
const LABELS = 150;
const [HEIGHT, NARROW_WIDTH] = [320, 480];
/** Letters keep their size on a phone, where there is less between them. */
export const chartWidth = () => (matchMedia('(max-width: 44rem)').matches ? 400 : 720);

/** Steps of 1, 2 or 5 times a power of ten, at most `most` of them from low to high. */
function ticks(low, high, most) {
  const span = Math.max(high - low, 1);
  const power = 10 ** Math.floor(Math.log10(span / most));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((one) => span / one <= most) ?? span);
  const first = Math.ceil(low / step) * step;
  return Array.from({ length: Math.floor((high - first) / step) + 1 }, (_, index) => first + index * step);
}

function frame(xs, low, high, right, width, across = 'round') {
  const [left, top, bottom] = [40, 12, HEIGHT - 36];
  const [from, to] = [xs[0], Math.max(xs.at(-1), xs[0] + 1)];
  const x = (value) => left + ((value - from) / (to - from)) * (width - right - left);
  const y = (value) => bottom - ((value - low) / Math.max(high - low, 1)) * (bottom - top);
  const grid = [
    ticks(low, high, 6).map((value) => [
      svg('line', { class: 'grid', x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      svg('text', { class: 'axis', x: left - 6, y: y(value) + 4, 'text-anchor': 'end' }, number(value)),
    ]),
    ticks(from, to, width / 60).map((value) =>
      svg('text', { class: 'axis', x: x(value), y: bottom + 16, 'text-anchor': 'middle' }, value),
    ),
    svg('text', { class: 'axis', x: width - right, y: HEIGHT - 4, 'text-anchor': 'end' }, across),
  ];
  return { x, y, top, bottom, grid };
}

/** Labels at least this far apart, each as near to its wanted height as can be. */
function apart(wanted, distance, top, bottom) {
  const order = wanted.map((y, index) => [y, index]).sort((a, b) => a[0] - b[0]);
  let next = top;
  for (const one of order) {
    one[0] = Math.max(one[0], next);
    next = one[0] + distance;
  }
  let most = bottom;
  for (const one of order.reverse()) {
    one[0] = Math.min(one[0], most);
    most = one[0] - distance;
  }
  const placed = [];
  for (const [y, index] of order) placed[index] = y;
  return placed;
}

const path = (points) => `M${points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join('L')}`;

/** The segments that a line shares with lines before it, and with how many: there it is drawn over them, dashed. */
function shared(lines, index) {
  const at = (line, place) => (place < 0 ? 0 : line.points[place]);
  const same = (other, place) =>
    at(other, place) === at(lines[index], place) && at(other, place - 1) === at(lines[index], place - 1);
  const over = lines[index].points.map(
    (_, place) => lines.slice(0, index).filter((other) => same(other, place)).length,
  );
  return over.flatMap((count, place) => (count ? [{ count, place }] : []));
}

/** The race: the first eight and the followed player have a colour and a name, the others are grey. */
export function race({ rounds, players }, { name = 'points-race', most = HUES } = {}) {
  if (!rounds.length) return null;
  const pinned = players.filter((player) => player.id === following());
  const named = [...players.slice(0, most - pinned.length), ...pinned].filter(
    (player, index, all) => all.indexOf(player) === index,
  );
  const others = players.filter((player) => !named.includes(player));
  const width = chartWidth();
  const high = Math.max(1, ...players.flatMap((player) => player.points));
  const { x, y, top, bottom, grid } = frame([0, ...rounds], 0, high, LABELS, width);
  const line = (points) => path([0, ...points].map((value, at) => [x(at ? rounds[at - 1] : 0), y(value)]));
  const ends = apart(
    named.map((player) => y(player.points.at(-1))),
    15,
    top,
    bottom,
  );
  // Their own colours, as long as no two have the same.
  const own = new Set(named.map(hue)).size === named.length;
  const tone = (player, index) => (own ? hue(player) : index);
  const leaders = named.slice(0, 3).map((player) => `${player.name || player.id} ${player.points.at(-1)}`);
  return el(
    'figure',
    { class: 'chart', key: name },
    svg(
      'svg',
      {
        viewBox: `0 0 ${width} ${HEIGHT}`,
        role: 'img',
        'aria-label': `Points after round ${rounds.at(-1)}: ${leaders.join(', ')}`,
      },
      grid,
      others.map((player) => svg('path', { class: 'line other', key: player.id, d: line(player.points) })),
      [...named].reverse().map((player) => {
        const index = named.indexOf(player);
        const pin = player.id === following() ? ' pinned' : '';
        return svg(
          'path',
          { class: `line s${tone(player, index)}${pin}`, key: player.id, d: line(player.points) },
          svg('title', {}, player.name || player.id),
        );
      }),
      named.flatMap((player, index) =>
        shared(named, index).map(({ count, place }) => {
          const point = (at) => [x(at < 0 ? 0 : rounds[at]), y(at < 0 ? 0 : player.points[at])];
          return svg('path', {
            class: `line s${tone(player, index)}`,
            key: `over-${player.id}-${place}`,
            d: path([point(place - 1), point(place)]),
            'stroke-dasharray': `6 ${6 * count}`,
          });
        }),
      ),
      named.map((player, index) =>
        svg(
          'text',
          {
            class: `label s${tone(player, index)}${player.id === following() ? ' pinned' : ''}`,
            key: `label-${player.id}`,
            x: width - LABELS + 6,
            y: ends[index] + 4,
          },
          `${player.points.at(-1)}  ${cut(player.name || player.id)}`,
        ),
      ),
    ),
    el(
      'figcaption',
      { class: 'muted' },
      others.length ? `The first ${named.length} of ${players.length} are named; the others are grey. ` : '',
      saveChart(name, () => [
        ['player', ...rounds],
        ...players.map((player) => [player.name || player.id, ...player.points]),
      ]),
    ),
  );
}

const cut = (text) => (text.length > 15 ? `${text.slice(0, 14)}…` : text);

/** The least and the greatest, with some room for what is drawn there. */
function withMargin(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = Math.max((high - low) * 0.08, 1);
  return [low - margin, high + margin];
}

/** The rating of a player after each round of a ladder, or each league of a season: rows of `at` and `value`. */
export function ratings(rows, { name, what = 'Pairing rating', across = 'round' }) {
  const values = rows.map((row) => row.value);
  const { x, y, grid } = frame(
    rows.map((row) => row.at),
    ...withMargin(values),
    12,
    NARROW_WIDTH,
    across,
  );
  const last = rows.at(-1);
  const words = `${what} ${number(last.value)} after ${across} ${last.at}`;
  return el(
    'figure',
    { class: 'chart', key: name },
    svg(
      'svg',
      { viewBox: `0 0 ${NARROW_WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': words },
      grid,
      svg('path', { class: 'line s0', d: path(rows.map((row) => [x(row.at), y(row.value)])) }),
      // A few points are seen better than a line between them.
      rows.length < 20 ? rows.map((row) => svg('circle', { class: 'dot s0', cx: x(row.at), cy: y(row.value), r: 4 })) : null,
    ),
    el(
      'figcaption',
      { class: 'muted' },
      saveChart(name, () => [[across, what.toLowerCase()], ...rows.map((row) => [row.at, row.value])]),
    ),
  );
}
