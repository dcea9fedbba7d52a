// The few plots there are. Each says in words what it shows, and the numbers stand beside it.

import { el, svg } from './dom.js';
import { saveChart } from './download.js';
import { duration, number, percent, plural } from './words.js';

/** Bars with names, each a share of all. */
export function bars(rows, { label }) {
  const all = rows.reduce((sum, row) => sum + row.count, 0) || 1;
  const most = Math.max(1, ...rows.map((row) => row.count));
  return el(
    'ul',
    { class: 'bars', 'aria-label': label },
    rows.map((row) =>
      el(
        'li',
        { key: row.name },
        el('span', { class: 'bar-name' }, el('bdi', {}, row.name)),
        el('span', { class: 'bar-track' }, el('i', { style: { width: `${(row.count / most) * 100}%` } })),
        el(
          'span',
          { class: 'bar-count' },
          `${number(row.count)} `,
          el('span', { class: 'muted' }, percent(row.count / all)),
        ),
      ),
    ),
  );
}

const [WIDTH, HEIGHT, TOP, BOTTOM] = [440, 200, 18, 22];

/** How long answers took, beside how long they might have taken. */
export function histogram(
  { buckets, deadline_ms: deadline, count, p50_ms: middle, p99_ms: slow, late, means },
  { name = 'answer-times' } = {},
) {
  const most = Math.max(1, ...buckets.map((bucket) => bucket.count));
  const within = (bucket) => deadline === undefined || deadline === null || bucket.from_ms < deadline;
  const wide = WIDTH / buckets.length;
  const what = means
    ? `${plural(count, 'match', 'matches')}, each with the mean of its answers`
    : plural(count, 'answer');
  const words = `${what}, half of them within ${duration(middle)}, 99 % within ${duration(slow)}; the deadline is ${duration(deadline)}, ${plural(late ?? 0, 'answer')} came late.`;
  const column = (bucket, index) => {
    const height = (bucket.count / most) * (HEIGHT - TOP - BOTTOM);
    const [x, y] = [index * wide, HEIGHT - BOTTOM - height];
    return svg(
      'g',
      { key: index },
      svg('rect', { class: within(bucket) ? 'bar' : 'bar over', x: x + 1.5, y, width: wide - 3, height, rx: 3 }),
      bucket.count
        ? svg('text', { class: 'axis', x: x + wide / 2, y: y - 5, 'text-anchor': 'middle' }, number(bucket.count))
        : null,
      svg('text', { class: 'axis', x: x + wide / 2, y: HEIGHT - 6, 'text-anchor': 'middle' }, upTo(bucket)),
      svg('title', {}, `${between(bucket)}: ${plural(bucket.count, 'answer')}`),
    );
  };
  const beyond = deadline ? buckets.findIndex((bucket) => !within(bucket)) : -1;
  const due = (beyond < 0 ? buckets.length : beyond) * wide;
  return el(
    'figure',
    { class: 'chart histogram', key: name },
    svg(
      'svg',
      { viewBox: `-2 0 ${WIDTH + 4} ${HEIGHT}`, role: 'img', 'aria-label': words },
      svg('line', { class: 'grid', x1: 0, x2: WIDTH, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }),
      buckets.map(column),
      deadline ? svg('line', { class: 'deadline', x1: due, x2: due, y1: 0, y2: HEIGHT - BOTTOM }) : null,
    ),
    el(
      'figcaption',
      { class: 'muted' },
      `${words} The axis is the answer time in ms. `,
      saveChart(name, () => [
        ['from_ms', 'to_ms', 'answers'],
        ...buckets.map((bucket) => [bucket.from_ms, bucket.to_ms, bucket.count]),
      ]),
    ),
  );
}

const shortly = (ms) => (ms < 1000 ? `${+ms.toFixed(1)}` : `${+(ms / 1000).toFixed(1)}s`);
const upTo = (bucket) => (bucket.to_ms === null || bucket.to_ms === undefined ? 'more' : shortly(bucket.to_ms));
const between = (bucket) =>
  bucket.to_ms ? `${duration(bucket.from_ms)} to ${duration(bucket.to_ms)}` : `over ${duration(bucket.from_ms)}`;

/** A sum that grows round by round. */
export function climb(values, { label, name }) {
  const [width, height] = [600, 120];
  const top = Math.max(1, ...values);
  const x = (index) => (values.length < 2 ? width : (index / (values.length - 1)) * width);
  const y = (value) => height - 4 - (value / top) * (height - 12);
  const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
  return el(
    'figure',
    { class: 'climb chart', key: name },
    svg(
      'svg',
      { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
      svg('path', { class: 'area', d: `M0,${height} L${points.join(' L')} L${width},${height} Z` }),
      svg('path', { class: 'line', d: `M${points.join(' L')}` }),
    ),
    el(
      'figcaption',
      { class: 'muted' },
      `${label} `,
      saveChart(name, () => [['round', 'points'], ...values.map((value, index) => [index + 1, value])]),
    ),
  );
}

/** A rating and how sure it is, on a scale that all share. */
export function interval({ value, low, high }) {
  const [from, to] = [Math.min(low, value) - 20, Math.max(high, value) + 20];
  const at = (rating) => `${((rating - from) / (to - from)) * 100}%`;
  const round = (rating) => number(Math.round(rating));
  return el(
    'span',
    {
      class: 'interval',
      role: 'img',
      'aria-label': `rating ${round(value)}, between ${round(low)} and ${round(high)}`,
    },
    el(
      'span',
      { class: 'interval-track' },
      el('i', { class: 'range', style: { left: at(low), width: `calc(${at(high)} - ${at(low)})` } }),
      el('i', { class: 'dot', style: { left: at(value) } }),
    ),
    el('span', { class: 'muted' }, `${round(low)} to ${round(high)}`),
  );
}
