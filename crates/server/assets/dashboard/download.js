// Saves what is shown: tables as CSV or JSON, charts as SVG or PNG. All of it is made in the browser.

import { el } from './dom.js';

export function save(name, blob) {
  const url = URL.createObjectURL(blob);
  const to = el('a', { href: url, download: name });
  document.body.append(to);
  to.click();
  to.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A cell of CSV. One that a spreadsheet would take for a formula is kept as text. */
export function cell(value) {
  const text = value === null || value === undefined ? '' : String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const saveCsv = (name, rows) =>
  save(name, new Blob([`${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`], { type: 'text/csv' }));

export const saveJson = (name, data) =>
  save(name, new Blob([`${JSON.stringify(data, null, 2)}\n`], { type: 'application/json' }));

const PAINTED = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'opacity',
  'font-size',
  'font-weight',
  'font-family',
  'text-anchor',
  'dominant-baseline',
  'fill-opacity',
];

/** A picture that needs no style sheet: what the page's styles say stands on each element. */
function alone(picture) {
  const { width, height } = picture.getBoundingClientRect();
  const copy = picture.cloneNode(true);
  const from = [picture, ...picture.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((node, index) => {
    const style = getComputedStyle(from[index]);
    for (const name of PAINTED) node.setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', Math.round(width));
  copy.setAttribute('height', Math.round(height));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

const saveSvg = (name, picture) => save(name, new Blob([alone(picture).text], { type: 'image/svg+xml' }));

/** A picture on the page with the styles that it has there; one that is on no page has its own. */
export async function savePng(name, picture) {
  const { text, width, height } = picture.isConnected
    ? alone(picture)
    : {
        text: new XMLSerializer().serializeToString(picture),
        width: picture.width.baseVal.value / 2,
        height: picture.height.baseVal.value / 2,
      };
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = el('canvas', { width: Math.round(width * 2), height: Math.round(height * 2) });
  const context = canvas.getContext('2d');
  context.fillStyle = getComputedStyle(document.body).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save(name, blob), 'image/png');
}

/** Buttons that save the chart in the same figure, and the numbers that it shows. */
export function saveChart(name, rows) {
  const picture = (event) => event.currentTarget.closest('figure').querySelector('svg');
  const button = (kind, act) =>
    el('button', { type: 'button', class: 'small', 'aria-label': `Save ${name} as ${kind}`, onclick: act }, kind);
  return el(
    'span',
    { class: 'saves' },
    button('SVG', (event) => saveSvg(`${name}.svg`, picture(event))),
    button('PNG', (event) => savePng(`${name}.png`, picture(event))),
    rows ? button('CSV', () => saveCsv(`${name}.csv`, rows())) : null,
  );
}
