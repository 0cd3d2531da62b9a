// Saves and restores the scroll position of the list, relative to a row.

import { chunkWhere, fill } from './chunks.js';
import { byId } from './dom.js';
import { rows } from './rows.js';

const list = byId('list');

/** The first visible row with its offset; null at the top of the list. */
export function scrollPosition() {
  if (!scrollY) return null;
  const top = document.querySelector('.bar').offsetHeight;
  const element = [...list.querySelectorAll('.row')].find((row) => row.getBoundingClientRect().bottom > top);
  return element ? { path: element.dataset.path, top: element.getBoundingClientRect().top } : null;
}

/** Scrolls the row of a position to its offset. */
export function restoreScroll(position) {
  if (!position) return scrollTo(0, 0);
  fill(chunkWhere(list, (paths) => paths.includes(position.path)));
  const align = () => {
    const element = rows.get(position.path)?.element;
    if (element?.isConnected) scrollBy(0, element.getBoundingClientRect().top - position.top);
  };
  align();
  // Rows above get their final height once they are shown, which moves the row.
  requestAnimationFrame(() => requestAnimationFrame(align));
}

/** Scrolls to the tweak or the collection that the address names. */
export function scrollToTarget({ path, category, collection }) {
  list.querySelector('.aim')?.classList.remove('aim');
  const key = category + '/' + collection;
  const card = [...list.querySelectorAll('.card')].find((card) => card.dataset.collection === key);
  if (!card) return scrollTo(0, 0);
  if (path) fill(chunkWhere(card, (paths) => paths.includes(path)));
  const row = path && rows.get(path);
  if (!row) return card.scrollIntoView();
  row.element.classList.add('aim');
  for (const wait of [0, 60]) setTimeout(() => row.element.scrollIntoView({ block: 'center' }), wait);
  row.element.focus({ preventScroll: true });
}
