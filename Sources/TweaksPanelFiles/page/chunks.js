// Makes rows a few at a time, when they come near the view.

import { h, vary } from './dom.js';
import { rowOf } from './row.js';

const nearby = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) fill(entry.target);
}, { rootMargin: '400px 0px' });

/** Places for rows, ten in each. */
export function chunksOf(paths, size = 10) {
  const chunks = [];
  for (let start = 0; start < paths.length; start += size) {
    const chunk = h('div.chunk');
    chunk.paths = paths.slice(start, start + size);
    vary(chunk, '--rows', chunk.paths.length);
    chunks.push(chunk);
  }
  return chunks;
}

/** Makes the rows of a chunk that has none. */
export function fill(chunk) {
  if (!chunk?.paths) return;
  nearby.unobserve(chunk);
  for (const path of chunk.paths) {
    const row = rowOf(path);
    if (!row) continue;
    row.isHovered = false;
    chunk.append(row.element);
  }
  chunk.paths = null;
}

/** Makes the first rows of a list at once, and the others as they come near. */
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

/** Makes the rest when the browser has time, so that its own search finds them. */
export function fillRest(list) {
  const later = globalThis.requestIdleCallback ?? ((action) => setTimeout(action, 50));
  later(() => {
    const chunk = chunkWhere(list, (paths) => paths.length);
    if (!chunk) return;
    fill(chunk);
    fillRest(list);
  });
}

/** The first chunk without rows whose paths fit. */
export function chunkWhere(list, fits) {
  return [...list.querySelectorAll('.chunk')].find((chunk) => chunk.paths && fits(chunk.paths));
}
