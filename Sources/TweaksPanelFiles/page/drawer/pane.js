// The pane of the drawer: what a tab loads is shown there, unless another one was opened meanwhile.

import { bdi, byId, h, renew } from '../dom.js';
import { partly } from '../format.js';

export const drawer = byId('drawer');
export const pane = byId('pane');
/** The tab that is open. */
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
  // Answers may arrive out of order, or after the drawer was closed.
  if (!drawer.open || tab !== name || own < shownRequest) return;
  shownRequest = own;
  renew(pane, content);
}

export const link = (path) => h('a', { href: '#/' + partly(path), onclick: () => drawer.close() }, bdi(path));
