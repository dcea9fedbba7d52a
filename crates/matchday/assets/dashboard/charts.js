// The few plots there are. Each says in words what it shows, and the numbers stand beside it.

import { el, svg } from './dom.js';
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

/** How long answers took, beside how long they might have taken. */
export function histogram({ buckets, deadline_ms: deadline, count, p50_ms: middle, p99_ms: slow, late, means }) {
  const most = Math.max(1, ...buckets.map((bucket) => bucket.count));
  const within = (bucket) => deadline === undefined || deadline === null || bucket.from_ms < deadline;
  const cut = deadline ? buckets.findIndex((bucket) => !within(bucket)) : -1;
  const what = means ? plural(count, 'match', 'matches') + ', each with the mean of its answers' : plural(count, 'answer');
  const words = `${what}, half of them within ${duration(middle)}, 99 % within ${duration(slow)}; the deadline is ${duration(deadline)}, ${plural(late ?? 0, 'answer')} came late.`;
  return el(
    'figure',
    { class: 'histogram' },
    el(
      'div',
      { class: 'columns', role: 'img', 'aria-label': words },
      buckets.map((bucket, index) =>
        el(
          'span',
          {
            class: `column${within(bucket) ? '' : ' over'}${index === cut ? ' cut' : ''}${deadline && bucket.to_ms === deadline && cut < 0 ? ' end' : ''}`,
            title: `${between(bucket)}: ${plural(bucket.count, 'answer')}`,
          },
          el('b', {}, bucket.count || ''),
          el('i', { style: { height: `${(bucket.count / most) * 100}%` } }),
          el('small', {}, upTo(bucket)),
        ),
      ),
    ),
    el('figcaption', { class: 'muted' }, words, ' Under each column: up to how many milliseconds.'),
  );
}

const shortly = (ms) => (ms < 1000 ? `${+ms.toFixed(1)}` : `${+(ms / 1000).toFixed(1)}s`);
const upTo = (bucket) => (bucket.to_ms === null || bucket.to_ms === undefined ? 'more' : shortly(bucket.to_ms));
const between = (bucket) =>
  bucket.to_ms ? `${duration(bucket.from_ms)} to ${duration(bucket.to_ms)}` : `over ${duration(bucket.from_ms)}`;

/** A sum that grows round by round. */
export function climb(values, { label }) {
  const [width, height] = [600, 120];
  const top = Math.max(1, ...values);
  const x = (index) => (values.length < 2 ? width : (index / (values.length - 1)) * width);
  const y = (value) => height - 4 - (value / top) * (height - 12);
  const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
  return el(
    'figure',
    { class: 'climb' },
    svg(
      'svg',
      { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
      svg('path', { class: 'area', d: `M0,${height} L${points.join(' L')} L${width},${height} Z` }),
      svg('path', { class: 'line', d: `M${points.join(' L')}` }),
    ),
    el('figcaption', { class: 'muted' }, label),
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
