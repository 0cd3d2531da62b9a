// Searches tweaks by the server's ranking, or by a similar one while the server is unreachable.

import { route, setRoute } from './address.js';
import { byId, on } from './dom.js';
import { shown } from './format.js';
import { fold, rankOf, wordsOf } from './marks.js';
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

/** Paths of the tweaks that have all words in their path, help or value, best first. */
function localMatches(query) {
  const words = wordsOf(query);
  const ranked = [...tweaks.values()].map((tweak) => [tweak.path, rank(tweak, words)]);
  const found = ranked.filter(([, rank]) => rank < Infinity).sort(([, left], [, right]) => left - right);
  return found.slice(0, 100).map(([path]) => path);
}

function rank({ path, help = '', value }, words) {
  const [inPath, inHelp, inValue] = [path, help, shown(value)].map(fold);
  const mostInValue = typeof value === 'number' ? 0 : 1;
  return words.reduce((sum, word) => {
    const best = rankOf(word, inPath);
    if (best < 3) return sum + best;
    return sum + (rankOf(word, inHelp) < 3 ? 3 : rankOf(word, inValue) <= mostInValue ? 4 : Infinity);
  }, 0);
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
