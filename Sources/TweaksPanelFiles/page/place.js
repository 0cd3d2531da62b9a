// Remembers where the list is scrolled to, by the row that stands there, and goes back.

import { chunkWhere, fill } from './chunks.js';
import { byId } from './dom.js';
import { rows } from './rows.js';

const list = byId('list');

/** The first row in view, and how far down it is; null at the top of the list. */
export function placeNow() {
  if (!scrollY) return null;
  const top = document.querySelector('.bar').offsetHeight;
  const element = [...list.querySelectorAll('.row')].find((row) => row.getBoundingClientRect().bottom > top);
  return element ? { path: element.dataset.path, top: element.getBoundingClientRect().top } : null;
}

/** Scrolls so that the row stands where it did. */
export function returnTo(place) {
  if (!place) return scrollTo(0, 0);
  fill(chunkWhere(list, (paths) => paths.includes(place.path)));
  const align = () => {
    const element = rows.get(place.path)?.element;
    if (element?.isConnected) scrollBy(0, element.getBoundingClientRect().top - place.top);
  };
  align();
  // What lies above is measured when it is shown, which moves the row.
  requestAnimationFrame(() => requestAnimationFrame(align));
}

/** Scrolls to the tweak or the collection that the address names. */
export function aim({ path, category, collection }) {
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
