// Creates rows in chunks as they approach the viewport.

import { h, setStyle } from './dom.js';
import { mark } from './marks.js';
import { rowOf } from './row.js';

const nearby = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) fill(entry.target);
}, { rootMargin: '400px 0px' });

/** Creates empty chunks for rows, ten rows each. */
export function chunksOf(paths, size = 10) {
  const chunks = [];
  for (let start = 0; start < paths.length; start += size) {
    const chunk = h('div.chunk');
    chunk.paths = paths.slice(start, start + size);
    setStyle(chunk, '--rows', chunk.paths.length);
    chunks.push(chunk);
  }
  return chunks;
}

/** Creates the rows of an empty chunk. */
export function fill(chunk) {
  if (!chunk?.paths) return;
  nearby.unobserve(chunk);
  for (const path of chunk.paths) {
    const row = rowOf(path);
    if (!row) continue;
    row.isHovered = false;
    chunk.append(row.element);
  }
  mark(chunk);
  chunk.paths = null;
}

/** Creates the first rows of a list at once, and the others as they approach the viewport. */
export function fillSoon(list) {
  let filled = 0;
  nearby.disconnect();
  for (const chunk of list.querySelectorAll('.chunk')) {
    if (filled >= 10) {
      nearby.observe(chunk);
      continue;
    }
    filled += chunk.paths.length;
    fill(chunk);
  }
}

/** Creates the rest when the browser is idle, or after a second, so that its own search finds them. */
export function fillRest(list) {
  const later = globalThis.requestIdleCallback ?? ((action) => setTimeout(action, 50));
  later(() => {
    const chunk = chunkWhere(list, (paths) => paths.length);
    if (!chunk) return;
    fill(chunk);
    fillRest(list);
  }, { timeout: 1000 });
}

/** The first empty chunk whose paths match. */
export function chunkWhere(list, fits) {
  return [...list.querySelectorAll('.chunk')].find((chunk) => chunk.paths && fits(chunk.paths));
}
