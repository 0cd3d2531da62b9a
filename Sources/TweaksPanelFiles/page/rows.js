// Keeps the rows that were made, and draws those that changed: once a frame; a hidden page has no frames.

import { emit } from './signals.js';

export const rows = new Map();
/** The row that is being dragged, or was last. */
export const gesture = { row: null };
const dirty = new Set();
/** Draws a row in the next frame. */
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
/** Has counted what is modified, soon. */
export function countSoon() {
  clearTimeout(counting);
  counting = setTimeout(() => emit('count'), 120);
}
