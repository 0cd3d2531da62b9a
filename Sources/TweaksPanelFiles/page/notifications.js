// Shows notifications that cover no row, and announces them to screen readers.

import { button, byId, clean, h, icon } from './dom.js';
import { brief, nameOf } from './format.js';

export function announce(text) {
  byId('live').textContent = clean(text);
}

let closeLast = () => {};
/**
 * Shows and announces a notification in place of the last one; with an action it stays. Returns a function
 * that closes it.
 */
export function toast(text, { isBad = false, action = null } = {}) {
  closeLast();
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
  byId('toasts').append(note);
  closeLast = close;
  // A notification with an action stays until it is closed.
  if (!action) setTimeout(close, isBad ? 9000 : 5000);
  announce(text);
  return close;
}

/** Closes the last offer. */
export let withdraw = () => {};
/** Offers an action, and replaces the last offer. The focus moves to its button. */
export function offer(text, word, action) {
  withdraw();
  withdraw = toast(text, { action: [word, action] });
  byId('toasts').lastElementChild.querySelector('button').focus();
}

const queued = [];
let timer = 0;
/** Announces changes of others to screen readers, several together. */
export function announceChange(event) {
  queued.push(event);
  timer ||= setTimeout(() => {
    const by = [...new Set(queued.map((one) => one.by ?? 'unknown'))].slice(0, 3).join(', ');
    const last = queued.at(-1);
    announce(
      queued.length === 1
        ? `${nameOf(last.path)} is ${last.value == null ? 'changed' : brief(last.value)}, by ${by}`
        : `${queued.length} changes by ${by}`,
    );
    queued.length = 0;
    timer = 0;
  }, 1200);
}
