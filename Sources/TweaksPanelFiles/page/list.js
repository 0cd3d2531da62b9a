// Draws the list of tweaks for the address: everything, a category, favorites, or search results.

import { readAddress, route, setRoute } from './address.js';
import { stale } from './bake/stale.js';
import { chunksOf, chunkWhere, fill, fillRest, fillSoon } from './chunks.js';
import { bdi, byId, clean, h, icon, on, root } from './dom.js';
import { encodePath, nameOf } from './format.js';
import { markWords } from './marks.js';
import { restoreScroll, scrollPosition, scrollToTarget } from './scroll-position.js';
import { pressed } from './row-keys.js';
import { gesture } from './rows.js';
import { beginSearch, endSearch, search } from './search.js';
import { session } from './session.js';
import { drawSide } from './sidebar.js';
import { emit, listen } from './signals.js';
import { store, stored } from './storage.js';
import { favorites, tree, tweaks } from './tweaks.js';

const list = byId('list');
const folded = new Set(stored('folded', []));
let onlyModified = false;
/** Paths of the listed tweaks. */
let listed = new Set();
/** The query of the shown results. */
let shownQuery = null;
/** The address and the scroll position before the search. */
let before = null;

/** Draws the view that the address names; `isSame`: the address has not changed. */
export function open(isSame = false) {
  if (!tweaks.size && root.dataset.state !== 'connected') return;
  setRoute(readAddress());
  root.toggleAttribute('data-only', route.only === true);
  if (route.query == null) endSearch(!isSame);
  else if (!beginSearch(!isSame)) return;
  if (!isSame || (search.found ? route.query : null) !== shownQuery) stale.shown = null;
  // A moved element loses the pointer, so the list is redrawn after the drag.
  if (isSame && gesture.row?.drag && gesture.row.element.isConnected) {
    gesture.row.needsRedraw = true;
    return;
  }
  const editor = list.querySelector(':is(#picker, #motion):popover-open');
  if (isSame && editor) {
    editor.ontoggle = () => {
      editor.ontoggle = null;
      open(true);
    };
    return;
  }
  editor?.hidePopover();
  if (search.found && shownQuery == null) before = { address: search.from, position: scrollPosition() };
  const focused = document.activeElement;
  draw();
  // The row of the focus may be farther down than those that are made at once.
  const { path } = focused?.closest('.row')?.dataset ?? {};
  if (path) fill(chunkWhere(list, (paths) => paths.includes(path)));
  if (focused !== document.body && focused !== document.activeElement && focused?.isConnected) {
    focused.focus({ preventScroll: true });
  }
  emit('listed', [...listed], onlyModified && !stale.shown);
  scroll(isSame);
  drawSide();
  const title = [route.path ? nameOf(route.path) : route.category, session.process];
  document.title = title.filter(Boolean).map(clean).join(' – ');
}

/** Results begin at the top; leaving them restores the position before the search. */
function scroll(isSame) {
  const query = search.found ? route.query : null;
  if (query != null && query !== shownQuery) scrollTo(0, 0);
  else if (query == null && shownQuery != null && before?.address === location.hash) {
    restoreScroll(before.position);
  } else if (!isSame) scrollToTarget(route);
  shownQuery = query;
}

function draw() {
  const flat = stale.shown ?? search.found?.paths ?? (route.favorites ? [...favorites] : null);
  list.className = flat ? 'flat' : 'main-list';
  markWords(search.found && route.query);
  list.replaceChildren(
    ...flat ? flatParts(flat.filter((path) => tweaks.has(path) && isKept(path))) : treeParts(),
  );
  listed = new Set([...list.querySelectorAll('.chunk')].flatMap((chunk) => chunk.paths));
  list.classList.toggle('many', listed.size > 150);
  fillSoon(list);
  if (listed.size <= 300 && !search.found) fillRest(list);
}

const isKept = (path) => !onlyModified || stale.shown != null || tweaks.get(path)?.modified;

/** Search results, favorites or overrides that are no longer needed: rows in one card. */
function flatParts(paths) {
  const more = search.found?.more;
  const count = more ? `the best ${paths.length} of ${paths.length + more}` : String(paths.length);
  const title = stale.shown
    ? 'Set to what is the default'
    : search.found
    ? `Results for “${clean(route.query)}”`
    : 'Favorites';
  const none = search.found ? 'No tweaks match.' : 'No favorites yet: click the star of a row to add it.';
  return [
    h('h2', title, h('small', count)),
    paths.length ? h('section.card', ...chunksOf(paths)) : h('p.empty', none),
  ];
}

/** Categories with their collections. */
function treeParts() {
  const parts = [];
  for (const [category, collections] of tree) {
    if (route.category != null && category !== route.category) continue;
    const kept = [...collections]
      .filter(([collection]) => !route.only || collection === route.collection)
      .map(([collection, all]) => [collection, all.filter(isKept)])
      .filter(([, paths]) => paths.length);
    if (!kept.length) continue;
    const count = kept.reduce((sum, [, paths]) => sum + paths.length, 0);
    parts.push(h(
      'section',
      { label: category },
      h(
        'h2',
        h('a', { href: '#/' + encodeURIComponent(category) }, bdi(category)),
        h('small', `${count} ${count === 1 ? 'tweak' : 'tweaks'}`),
      ),
      ...kept.map(([collection, paths]) => card(category, collection, paths)),
    ));
  }
  if (parts.length) return parts;
  const reason = route.category ? 'There is no such category.' : 'No tweaks yet.';
  return [h('p.empty', onlyModified ? 'Nothing differs from its default here.' : reason)];
}

/** A collection, which can be folded. */
function card(category, collection, paths) {
  const key = category + '/' + collection;
  const isFolded = folded.has(key) && route.collection !== collection && !onlyModified;
  const rows = h('div', { hidden: isFolded }, ...chunksOf(paths));
  const toggle = () => {
    rows.hidden = !rows.hidden;
    fold.setAttribute('aria-expanded', !rows.hidden);
    folded[rows.hidden ? 'add' : 'delete'](key);
    store('folded', [...folded]);
  };
  const openSmall = (event) => {
    event.preventDefault();
    globalThis.open(event.currentTarget.href, '', 'popup,width=320,height=500');
  };
  const fold = h(
    'button.fold',
    { 'aria-expanded': !isFolded, onclick: toggle },
    icon('chevron'),
    bdi(collection),
    h('span.soft', String(paths.length)),
  );
  const attributes = {
    href: '#/' + encodePath(key),
    title: 'Link to this collection',
    label: 'Link to ' + collection,
  };
  return h(
    'section.card',
    { label: `${category} / ${collection}`, 'data-collection': key },
    h(
      'h3',
      fold,
      h('a.tool', attributes, '#'),
      h('a.tool', {
        href: `#/${encodePath(key)}?only`,
        title: 'Open in a small window',
        label: 'Open in a small window: ' + collection,
        onclick: openSmall,
      }, icon('window')),
    ),
    rows,
  );
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
  stale.shown = null;
  byId('modified-only').setAttribute('aria-pressed', onlyModified);
  open(true);
  scrollTo(0, 0);
});

on(list, 'click', (event) => {
  const tool = event.target.closest('.row .tool');
  tool?.closest('.row').row.act(tool.dataset.part);
});

on(list, 'keydown', (event) => {
  const row = event.target.closest('[popover]') ? null : event.target.closest('.row')?.row;
  if (event.key === 'Escape' && row?.isArmed && !event.defaultPrevented) {
    event.preventDefault();
    row.arm('');
  }
  if (row) pressed(row, event);
});
