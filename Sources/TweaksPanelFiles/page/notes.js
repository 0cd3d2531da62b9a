// Says what happened: short notes where they cover no row, and to screen readers.

import { button, byId, clean, h, icon } from './dom.js';
import { brief, nameOf } from './format.js';

export function say(text) {
  byId('live').textContent = clean(text);
}

/** Shows a note, and says it; an action makes it stay. Returns what takes it away. */
export function toast(text, { isBad = false, action = null } = {}) {
  const before = document.activeElement;
  const close = () => {
    const hadFocus = note.contains(document.activeElement);
    note.remove();
    if (hadFocus) before.focus({ preventScroll: true });
  };
  const note = h(
    'div',
    { class: ['toast', isBad && 'bad', action && 'asks'].filter(Boolean).join(' ') },
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
  return close;
}

/** Takes away what was offered last. */
export let withdraw = () => {};
/** Offers something in place of what was offered before. Its button has the keyboard until it is answered. */
export function offer(text, word, action) {
  withdraw();
  withdraw = toast(text, { action: [word, action] });
  byId('toasts').lastElementChild.querySelector('button').focus();
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
