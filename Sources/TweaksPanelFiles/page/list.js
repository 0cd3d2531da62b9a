// Lists the tweaks that the address names, a few rows at a time.

import { readAddress, route, setRoute } from './address.js';
import { bdi, byId, clean, h, icon, on, root, vary } from './dom.js';
import { nameOf, partly } from './format.js';
import { rowOf } from './row.js';
import { gesture, rows } from './rows.js';
import { beginSearch, endSearch, search } from './search.js';
import { session } from './session.js';
import { drawSide } from './side.js';
import { listen } from './signals.js';
import { store, stored } from './storage.js';
import { favorites, tree, tweaks } from './tweaks.js';

let onlyModified = false;
/** Paths of what is listed. */
let listed = new Set();
const folded = new Set(stored('folded', []));
export const list = byId('list');
const gaze = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) fill(entry.target);
}, { rootMargin: '400px 0px' });

function fill(chunk) {
  if (!chunk.paths) return;
  gaze.unobserve(chunk);
  for (const path of chunk.paths) {
    const row = rowOf(path);
    if (row) {
      row.isHovered = false;
      chunk.append(row.element);
    }
  }
  chunk.paths = null;
}

function chunksOf(paths, size = 10) {
  const chunks = [];
  for (let start = 0; start < paths.length; start += size) {
    const chunk = h('div.chunk');
    chunk.paths = paths.slice(start, start + size);
    vary(chunk, '--rows', chunk.paths.length);
    chunks.push(chunk);
  }
  return chunks;
}

export function open(isSame = false) {
  if (!tweaks.size && root.dataset.state !== 'connected') return;
  setRoute(readAddress());
  if (route.query == null) endSearch(!isSame);
  else if (!beginSearch(!isSame)) return;
  // What is moved in the page loses the pointer: a drag ends first.
  if (isSame && gesture.row?.drag && gesture.row.element.isConnected) {
    gesture.row.isLate = true;
    return;
  }
  const focused = document.activeElement;
  const keep = (path) => !onlyModified || tweaks.get(path)?.modified;
  const flat = search.found?.paths ?? (route.favorites ? [...favorites] : null);
  const parts = [];
  list.className = flat ? 'flat' : 'main-list';
  if (flat) {
    const paths = flat.filter((path) => tweaks.has(path) && keep(path));
    parts.push(
      h(
        'h2',
        search.found ? `Found for “${clean(route.query)}”` : 'Favorites',
        h(
          'small',
          search.found?.more
            ? `the best ${paths.length} of ${paths.length + search.found.more}`
            : String(paths.length),
        ),
      ),
    );
    if (paths.length) parts.push(h('section.card', ...chunksOf(paths)));
    else {parts.push(h(
        'p.empty',
        search.found
          ? 'Nothing has that in its name or its help.'
          : 'Nothing here yet: the star at a row puts it here.',
      ));}
  } else {
    for (const [category, collections] of tree) {
      if (route.category != null && category !== route.category) continue;
      const cards = [];
      let count = 0;
      for (const [collection, all] of collections) {
        const paths = all.filter(keep);
        count += paths.length;
        if (paths.length) cards.push(card(category, collection, paths));
      }
      if (cards.length) {
        parts.push(
          h(
            'section',
            { label: category },
            h(
              'h2',
              h('a', { href: '#/' + encodeURIComponent(category) }, bdi(category)),
              h('small', `${count} ${count === 1 ? 'tweak' : 'tweaks'}`),
            ),
            ...cards,
          ),
        );
      }
    }
    if (!parts.length) {
      parts.push(h(
        'p.empty',
        onlyModified
          ? 'Nothing differs from its default here.'
          : route.category
          ? 'There is no such category.'
          : 'No tweaks yet.',
      ));
    }
  }
  gaze.disconnect();
  list.replaceChildren(...parts);
  listed = new Set();
  let filled = 0;
  for (const chunk of list.querySelectorAll('.chunk')) {
    for (const path of chunk.paths) listed.add(path);
    if (filled < 10) {
      filled += chunk.paths.length;
      fill(chunk);
    } else gaze.observe(chunk);
  }
  list.classList.toggle('many', listed.size > 150);
  if (listed.size <= 300 && !search.found) later(fillRest);
  if (focused !== document.body && focused !== document.activeElement && focused?.isConnected) {
    focused.focus({ preventScroll: true });
  }
  if (!isSame) aim();
  drawSide();
  document.title = [route.path ? nameOf(route.path) : route.category, session.process].filter(Boolean).map(
    clean,
  ).join(' – ');
}

const later = globalThis.requestIdleCallback ?? ((action) => setTimeout(action, 50));
/** A few hundred rows are made ahead, so that the browser's own search finds them. */
function fillRest() {
  const chunk = [...list.querySelectorAll('.chunk')].find((chunk) => chunk.paths);
  if (!chunk) return;
  fill(chunk);
  later(fillRest);
}

function card(category, collection, paths) {
  const key = category + '/' + collection;
  const isFolded = folded.has(key) && route.collection !== collection && !onlyModified;
  const rows = h('div', { hidden: isFolded }, ...chunksOf(paths));
  const fold = h(
    'button.fold',
    {
      'aria-expanded': !isFolded,
      onclick: () => {
        rows.hidden = !rows.hidden;
        fold.setAttribute('aria-expanded', !rows.hidden);
        folded[rows.hidden ? 'add' : 'delete'](key);
        store('folded', [...folded]);
      },
    },
    icon('chevron'),
    bdi(collection),
    h('span.soft', String(paths.length)),
  );
  return h(
    'section.card',
    { label: `${category} / ${collection}`, 'data-collection': key },
    h(
      'h3',
      fold,
      h('a.tool', {
        href: '#/' + partly(key),
        title: 'Link to this collection',
        label: 'Link to ' + collection,
      }, '#'),
    ),
    rows,
  );
}

/** Scrolls to the tweak or collection that the address names. */
function aim() {
  list.querySelector('.aim')?.classList.remove('aim');
  const { path, category, collection } = route;
  const place = [...list.querySelectorAll('.card')].find((card) =>
    card.dataset.collection === category + '/' + collection
  );
  if (!place) return scrollTo(0, 0);
  if (!path) return place.scrollIntoView();
  const chunk = [...place.querySelectorAll('.chunk')].find((chunk) => chunk.paths?.includes(path));
  if (chunk) fill(chunk);
  const row = rows.get(path);
  if (!row) return place.scrollIntoView();
  row.element.classList.add('aim');
  for (const wait of [0, 60]) setTimeout(() => row.element.scrollIntoView({ block: 'center' }), wait);
  row.element.focus({ preventScroll: true });
}

listen('list', open);
listen('favorites', drawSide);

listen('count', () => {
  const modified = [...tweaks.values()].filter((tweak) => tweak.modified);
  byId('modified-only').lastElementChild.textContent = modified.length || '';
  drawSide();
  if (onlyModified && modified.some((tweak) => !listed.has(tweak.path))) open(true);
});

on(byId('modified-only'), 'click', () => {
  onlyModified = !onlyModified;
  byId('modified-only').setAttribute('aria-pressed', onlyModified);
  open(true);
  scrollTo(0, 0);
});

on(list, 'click', (event) => {
  const tool = event.target.closest('.tools .tool');
  tool?.closest('.row').row.act(tool.dataset.part);
});

on(list, 'keydown', (event) => {
  const row = event.target.closest('[popover]') ? null : event.target.closest('.row')?.row;
  if (event.key === 'Escape' && row?.isArmed && !event.defaultPrevented) row.arm('');
  event.target.row?.moveFocus(event);
});
