// Moves a body along a track as a curve or a spring would, or shows still positions where motion is reduced.

import { h, setStyle } from '../dom.js';

const isStill = matchMedia('(prefers-reduced-motion: reduce)');
/** How many positions describe a motion. */
const count = 60;

/** A track; `run(at, time)` moves its body by `at(part)`, for parts of a time in milliseconds from 0 to 1. */
export function replay(kind) {
  const body = h('i');
  const element = h('div', { 'class': 'track ' + kind, 'part': 'replay', 'aria-hidden': 'true' }, body);
  const place = (at) => ({ insetInlineStart: `calc(${at} * (100% - 16px))` });
  function run(at, time) {
    element.replaceChildren(body);
    for (const motion of body.getAnimations()) motion.cancel();
    if (isStill.matches) return showStill(at);
    const places = Array.from({ length: count + 1 }, (_, index) => place(at(index / count)));
    body.animate(places, { duration: Math.min(Math.max(time, 100), 5_000), fill: 'forwards' });
  }
  function showStill(at) {
    const stills = Array.from({ length: 9 }, (_, index) => {
      const still = h('i');
      setStyle(still, 'inset-inline-start', place(at(index / 8)).insetInlineStart);
      setStyle(still, 'opacity', (index + 2) / 10);
      return still;
    });
    element.replaceChildren(...stills);
  }
  return { element, run };
}
