// Rows glide to their new places: first, last, invert, play. Nothing moves for readers who want no motion.

const DURATION_MS = 600;
const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Where each element with this selector stands, by its key. */
export function places(root, selector) {
  return new Map([...root.querySelectorAll(selector)].map((node) => [node.key, node.getBoundingClientRect().top]));
}

/** Lets those that stand elsewhere now glide there. */
export function glide(root, selector, before) {
  if (still()) return;
  for (const node of root.querySelectorAll(selector)) {
    const moved = before.get(node.key) - node.getBoundingClientRect().top;
    if (!moved) continue;
    node.animate([{ transform: `translateY(${moved}px)` }, { transform: 'none' }], {
      duration: DURATION_MS,
      easing: 'cubic-bezier(0.2, 0.8, 0.2, 1)',
    });
  }
}
