// The player that the reader follows: pinned on every page, and part of the address, so that the link can be shared.

let followed = null;

export const following = () => followed;

/** Takes the followed player from the address. */
export function followFrom(query) {
  followed = query.follow ? query.follow.toUpperCase() : null;
}

/** The address of a page: `link('rounds', 3, { offset: 100 })`. Keeps the followed player. */
export function link(...steps) {
  const query = typeof steps.at(-1) === 'object' ? steps.pop() : {};
  const given = Object.entries({ follow: followed, ...query }).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  const tail = given.length ? `?${new URLSearchParams(given)}` : '';
  return `#/${steps.map(encodeURIComponent).join('/')}${tail}`;
}

/** This page with another player followed; the same one again ends it. */
export function followLink(id) {
  const [path, query] = location.hash.split('?');
  const params = new URLSearchParams(query ?? '');
  if (followed === id) params.delete('follow');
  else params.set('follow', id);
  return `${path || '#/'}${params.size ? `?${params}` : ''}`;
}
