// Builds and updates the page. Everything an agent may have written arrives here as a child or an attribute value, and
// leaves as a text node or an attribute: there is no way from text to markup in this program.

const SVG = 'http://www.w3.org/2000/svg';
const HANDLERS = ['onclick', 'onchange', 'oninput', 'onsubmit', 'onkeydown', 'ontoggle'];

/** An element of HTML. Attributes that are null, undefined or false are left out; `key` names it among its siblings, and
 * `keep` lets the one that stands there already stay as it is. */
export const el = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);

/** An element of SVG. */
export const svg = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);

function build(node, attributes, children) {
  for (const name in attributes) {
    const value = attributes[name];
    if (value === null || value === undefined || value === false) continue;
    if (name === 'key') node.key = String(value);
    else if (name === 'keep') node.keep = true;
    else if (name === 'style')
      Object.entries(value).forEach(([property, text]) => node.style.setProperty(property, text));
    else if (HANDLERS.includes(name)) listen(node, name, value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  add(node, children);
  return node;
}

function add(node, child) {
  if (Array.isArray(child)) child.forEach((one) => add(node, one));
  else if (child instanceof Node) node.appendChild(child);
  else if (child !== null && child !== undefined && child !== false && child !== '')
    node.appendChild(document.createTextNode(String(child)));
}

function listen(node, name, handler) {
  node[name] = handler;
  node.listens = true;
}

/** Makes `parent` hold what `fresh` is, keeping every node that is still right: with it stay scroll, focus, what has been
 * typed, and which details are open. */
export function update(parent, ...fresh) {
  const focused = document.activeElement;
  const wanted = document.createDocumentFragment();
  add(wanted, fresh);
  morphChildren(parent, wanted);
  if (focused && focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
}

function morphChildren(old, fresh) {
  const keyed = new Map();
  for (const child of old.childNodes) if (child.key) keyed.set(child.key, child);
  let at = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const found = wanted.key ? keyed.get(wanted.key) : at && !at.key ? at : null;
    if (!found || !alike(found, wanted)) {
      old.insertBefore(wanted, at);
      continue;
    }
    if (found === at) at = at.nextSibling;
    else if (old.moveBefore) old.moveBefore(found, at);
    else old.insertBefore(found, at);
    if (!wanted.keep) morph(found, wanted);
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

const alike = (a, b) => a.nodeName === b.nodeName && a.key === b.key;

function morph(old, fresh) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  morphAttributes(old, fresh);
  if (old.listens || fresh.listens) {
    HANDLERS.forEach((name) => (old[name] = fresh[name]));
    old.listens = fresh.listens;
  }
  morphChildren(old, fresh);
}

function morphAttributes(old, fresh) {
  for (const { name, value } of [...fresh.attributes]) {
    // The policy of the page forbids the style attribute, and allows the object behind it.
    if (name === 'style') {
      if (old.style.cssText !== fresh.style.cssText) old.style.cssText = fresh.style.cssText;
    } else if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    // A slider that was moved no longer follows its attribute.
    if (name === 'value' && old.type === 'range' && old.value !== value) old.value = value;
  }
  for (const { name } of [...old.attributes]) {
    // Whether details are open is the reader's business.
    const own = name === 'open' && (old.nodeName === 'DETAILS' || old.nodeName === 'DIALOG');
    if (!own && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
}
