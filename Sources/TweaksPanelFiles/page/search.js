// Searches tweaks by the server's ranking, or in names and help while the server is unreachable.

import { route, setRoute } from './address.js';
import { byId, on } from './dom.js';
import { parse } from './numbers/decimal.js';
import { fetchAuthenticated } from './requests.js';
import { emit } from './signals.js';
import { tweaks } from './tweaks.js';

const field = byId('search');
/** The results (paths, and the number of further ones), and the address before the search. */
export const search = { found: null, from: '' };
let searching = null;

/** Ends the search, when the address names none. */
export function endSearch(isElsewhere) {
  searching?.abort();
  search.found = null;
  if (isElsewhere) field.value = '';
}

/** Begins the search that the address names; returns false while its results are pending. */
export function beginSearch(isElsewhere) {
  if (field.value.trim() !== route.query) field.value = route.query;
  if (!isElsewhere && search.found) return true;
  runSearch();
  return false;
}

async function runSearch() {
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
    const path = '/api/find?q=' + encodeURIComponent(query);
    const response = await fetchAuthenticated(path, { signal: own.signal });
    const reply = parse(await response.text());
    if (own.signal.aborted) return;
    search.found = { paths: reply.tweaks.map((tweak) => tweak.path), more: Number(reply.more ?? 0) };
  } catch {
    if (own.signal.aborted) return;
    search.found = { paths: localMatches(query), more: 0 };
  }
  emit('list', true);
}

/** Returns to the address before the search. */
function leave() {
  if (route.query != null) history.replaceState(null, '', search.from || location.pathname);
  emit('list');
}

/** Paths of the tweaks whose name and help contain all words. */
function localMatches(query) {
  const words = query.toLowerCase().split(/\s+/);
  const texts = [...tweaks.values()].map(({ path, help = '' }) => [path, (path + ' ' + help).toLowerCase()]);
  return texts.filter(([, text]) => words.every((word) => text.includes(word))).map(([path]) => path).slice(
    0,
    100,
  );
}

on(field, 'input', runSearch);
on(field, 'keydown', (event) => {
  if (event.key === 'Escape' && field.value) {
    event.preventDefault();
    field.value = '';
    runSearch();
  }
  if (event.key === 'ArrowDown' || event.key === 'Enter') {
    event.preventDefault();
    byId('list').querySelector('.row')?.focus();
  }
});
