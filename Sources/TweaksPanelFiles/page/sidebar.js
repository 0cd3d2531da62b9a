// Draws the sidebar: the categories, with the number of their tweaks and a mark for modified ones.

import { route } from './address.js';
import { bdi, byId, h, replaceContent } from './dom.js';
import { favorites, tree, tweaks } from './tweaks.js';

export function drawSide() {
  const state = [];
  const entry = (href, text, all, isHere) => {
    const modified = all.filter((path) => tweaks.get(path)?.modified).length;
    state.push(href, all.length, modified, isHere);
    return () =>
      h(
        'li',
        h(
          'a',
          { href, 'aria-current': isHere ? 'page' : null },
          text,
          modified ? h('span.dot', { title: modified + ' modified' }) : null,
          h('small', String(all.length)),
        ),
      );
  };
  const isFlat = route.query != null || route.favorites;
  const stars = [...favorites].filter((path) => tweaks.has(path));
  const entries = [
    entry('#/', h('span', 'Everything'), [...tweaks.keys()], !isFlat && route.category == null),
    entry('#?favorites', h('span', 'Favorites'), stars, route.favorites),
    ...[...tree].map(([category, collections]) =>
      entry(
        '#/' + encodeURIComponent(category),
        bdi(category),
        [...collections.values()].flat(),
        !isFlat && route.category === category,
      )
    ),
  ];
  const side = byId('side').firstElementChild;
  if (side.drawnState !== String(state)) replaceContent(side, entries.map((make) => make()));
  side.drawnState = String(state);
}
