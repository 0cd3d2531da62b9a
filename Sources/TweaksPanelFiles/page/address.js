// Parses the fragment of the address: everything, a category, favorites, or a search.

import { lookIn } from './share/look.js';

/** The open view. */
export let route = {};
export function setRoute(next) {
  route = next;
}

export function readAddress() {
  // A look is not a view.
  if (lookIn(location.hash) != null) return {};
  const [hash, only] = location.hash.slice(1).split(/(\?only)$/);
  const decode = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  if (hash.startsWith('?q=')) return { query: decode(hash.slice(3)) };
  if (hash === '?favorites') return { favorites: true };
  const [category, collection, name] = hash.replace(/^\//, '').split('/').map(decode);
  const path = name ? `${category}/${collection}/${name}` : null;
  return { category: category || null, collection, path, only: only != null };
}

