// Shows the loaded content of a tab in the drawer, unless another tab was opened meanwhile.

import { bdi, byId, h, replaceContent } from '../dom.js';
import { encodePath } from '../format.js';

export const drawer = byId('drawer');
export const pane = byId('pane');
/** The open tab. */
export let tab = 'history';
export function setTab(name) {
  tab = name;
}

let lastRequest = 0;
let shownRequest = 0;
export async function showing(name, load, draw) {
  const own = ++lastRequest;
  let content;
  try {
    content = draw(await load());
  } catch (error) {
    content = [h('p.error', error.message)];
  }
  // Replacing a pressed button would lose its click.
  while (pane.matches(':active')) await new Promise((done) => setTimeout(done, 20));
  // Replies may arrive out of order, or after the drawer was closed.
  if (!content || !drawer.open || tab !== name || own < shownRequest) return;
  shownRequest = own;
  replaceContent(pane, content);
}

/** Whether the drawer covers the list. */
export const isAbove = () => drawer.matches(':modal');

export const link = (path) =>
  h('a', { href: '#/' + encodePath(path), onclick: () => isAbove() && drawer.close() }, bdi(path));
