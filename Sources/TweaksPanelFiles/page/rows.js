// Stores the created rows, and redraws changed ones once per frame, or by a timer while the page is hidden.

import { emit } from './signals.js';

export const rows = new Map();
/** The row of the current or last drag. */
export const gesture = { row: null };
const dirty = new Set();
/** Redraws a row in the next frame. */
export function drawSoon(path) {
  dirty.add(path);
  paintSoon();
}

let isPainting = false;
function paintSoon() {
  if (isPainting) return;
  isPainting = true;
  if (document.hidden) setTimeout(paint, 20);
  else requestAnimationFrame(paint);
}

function paint() {
  isPainting = false;
  for (const path of dirty) rows.get(path)?.draw();
  dirty.clear();
}

let counting = 0;
/** Schedules a count of the modified tweaks. */
export function countSoon() {
  clearTimeout(counting);
  counting = setTimeout(() => emit('count'), 120);
}
