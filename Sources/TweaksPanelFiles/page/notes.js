// Says what happened: short notes where they cover no row, and to screen readers.

import { button, byId, clean, h, icon } from './dom.js';
import { brief, nameOf } from './format.js';

export function say(text) {
  byId('live').textContent = clean(text);
}

export function toast(text, { isBad = false, action = null } = {}) {
  const close = () => note.remove();
  const note = h(
    'div',
    { class: isBad ? 'toast bad' : 'toast' },
    h('span', text),
    action
      ? button(action[0], () => {
        close();
        action[1]();
      })
      : null,
    h('button.button.plain', { label: 'Close', onclick: close }, icon('close')),
  );
  const drawer = byId('drawer');
  (drawer.open ? drawer : document.body).append(byId('toasts'));
  byId('toasts').append(note);
  if (byId('toasts').childElementCount > 3) byId('toasts').firstElementChild.remove();
  // What offers something stays until it is answered.
  if (!action) setTimeout(close, isBad ? 9000 : 5000);
  say(text);
}

const told = [];
let telling = 0;
export function announce(event) {
  told.push(event);
  telling ||= setTimeout(() => {
    const by = [...new Set(told.map((one) => one.by ?? 'somebody'))].slice(0, 3).join(', ');
    const last = told.at(-1);
    say(
      told.length === 1
        ? `${nameOf(last.path)} is ${last.value == null ? 'changed' : brief(last.value)}, by ${by}`
        : `${told.length} changes by ${by}`,
    );
    told.length = 0;
    telling = 0;
  }, 1200);
}
