// Searches as `find` does: the server ranks; without it, names are looked through here.

import { route, setRoute } from './address.js';
import { byId, on } from './dom.js';
import { parse } from './numbers/decimal.js';
import { ask } from './requests.js';
import { emit } from './signals.js';
import { tweaks } from './tweaks.js';

const field = byId('search');
/** What was found: paths, and how many more there are; and the address where the search began. */
export const search = { found: null, from: '' };
let searching = null;

/** The address names no search. */
export function endSearch(isElsewhere) {
  searching?.abort();
  search.found = null;
  if (isElsewhere) field.value = '';
}

/** The address names a search; false where it has not been answered yet. */
export function beginSearch(isElsewhere) {
  if (field.value.trim() !== route.query) field.value = route.query;
  if (!isElsewhere && search.found) return true;
  seek();
  return false;
}

async function seek() {
  const query = field.value.trim();
  searching?.abort();
  if (!query) return leave();
  const address = '#?q=' + encodeURIComponent(query);
  if (location.hash !== address) {
    if (route.query == null) search.from = location.hash;
    history[route.query != null ? 'replaceState' : 'pushState'](null, '', address);
  }
  setRoute({ query });
  const own = searching = new AbortController();
  try {
    const response = await ask('/api/find?q=' + encodeURIComponent(query), { signal: own.signal });
    const reply = parse(await response.text());
    if (own.signal.aborted) return;
    search.found = { paths: reply.tweaks.map((tweak) => tweak.path), more: Number(reply.more ?? 0) };
  } catch {
    if (own.signal.aborted) return;
    search.found = { paths: found(query), more: 0 };
  }
  emit('list', true);
}

/** Back to where the search began. */
function leave() {
  if (route.query != null) history.replaceState(null, '', search.from || location.pathname);
  emit('list');
}

/** Paths of the tweaks that have all words in their name or their help. */
function found(query) {
  const words = query.toLowerCase().split(/\s+/);
  const texts = [...tweaks.values()].map(({ path, help = '' }) => [path, (path + ' ' + help).toLowerCase()]);
  return texts.filter(([, text]) => words.every((word) => text.includes(word))).map(([path]) => path).slice(
    0,
    100,
  );
}

on(field, 'input', seek);
on(field, 'keydown', (event) => {
  if (event.key === 'Escape' && field.value) {
    event.preventDefault();
    field.value = '';
    seek();
  }
  if (event.key === 'ArrowDown' || event.key === 'Enter') {
    event.preventDefault();
    byId('list').querySelector('.row')?.focus();
  }
});
