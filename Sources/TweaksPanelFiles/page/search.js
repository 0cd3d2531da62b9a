// Searches as `find` does: the server ranks; without it, names are looked through here.

import { route, setRoute } from './address.js';
import { byId, on } from './dom.js';
import { parse } from './numbers/decimal.js';
import { ask } from './requests.js';
import { emit } from './signals.js';
import { tweaks } from './tweaks.js';

const field = byId('search');
/** What was found: paths, and how many more there are; null where nothing is searched for. */
export const search = { found: null };
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

/** Asks the server, whose ranking is the one of `find`; without it, names are looked through here. */
async function seek() {
  const query = field.value.trim();
  searching?.abort();
  if (!query) {
    search.found = null;
    if (route.query != null) history.replaceState(null, '', '#/');
    return emit('list');
  }
  const address = '#?q=' + encodeURIComponent(query);
  if (location.hash !== address) {
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
    const all = query.toLowerCase().split(/\s+/);
    search.found = {
      paths: [...tweaks.values()].filter(({ path, help = '' }) =>
        all.every((word) => (path + ' ' + help).toLowerCase().includes(word))
      ).map((tweak) => tweak.path).slice(0, 100),
      more: 0,
    };
  }
  emit('list', true);
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
