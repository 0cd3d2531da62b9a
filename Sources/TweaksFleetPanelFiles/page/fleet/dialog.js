// Asks for confirmation: a dialog that says what happens, with a button that does it.

import { button, clean, h, on } from '../dom.js';

const title = h('h2', { id: 'ask-title' });
const body = h('div.body');
const problem = h('p.error', { role: 'alert', hidden: true });
const confirm = button('', act, { class: 'button main', part: 'confirm' });
const cancel = button('Cancel', () => dialog.close(), { part: 'cancel' });
const dialog = h(
  'dialog',
  { id: 'ask', 'aria-labelledby': 'ask-title' },
  title,
  body,
  problem,
  h('div.cluster.end', cancel, confirm),
);
document.body.append(dialog);
// The keys of the page are for the list.
on(dialog, 'keydown', (event) => event.stopPropagation());
on(dialog, 'click', (event) => {
  if (event.target === dialog) dialog.close();
});

let action = null;
let opened = 0;
/** Whether the confirmation can be given, apart from an action that is under way. */
let isAllowed = false;

/** Opens the dialog. Returns what fills and changes it; after another one was opened, that does nothing. */
export function ask(text) {
  const own = ++opened;
  const guarded = (change) => (...all) => own === opened && change(...all);
  title.textContent = clean(text);
  body.replaceChildren(h('p.soft', 'Loading…'));
  cancel.textContent = 'Cancel';
  confirm.hidden = true;
  showProblem('');
  action = null;
  if (!dialog.open) dialog.showModal();
  return {
    fill: guarded((...children) => body.replaceChildren(...children.filter(Boolean))),
    /** Sets the button's text and what it does; the dialog closes once that is done. */
    offer: guarded((words, then, { isDanger = false } = {}) => {
      confirm.hidden = false;
      confirm.textContent = clean(words);
      confirm.className = isDanger ? 'button danger' : 'button main';
      action = then;
      allow(true);
    }),
    allow: guarded(allow),
    refuse: guarded(showProblem),
    /** There is nothing to confirm. */
    inform: guarded(() => {
      confirm.hidden = true;
      cancel.textContent = 'Close';
    }),
  };
}

function allow(isOn) {
  isAllowed = isOn;
  confirm.disabled = !isOn;
}

function showProblem(text) {
  problem.hidden = !text;
  problem.textContent = clean(text);
}

async function act() {
  const own = opened;
  confirm.disabled = true;
  showProblem('');
  try {
    await action();
    if (own === opened) dialog.close();
  } catch (error) {
    if (own === opened) showProblem(error.message);
  }
  if (own === opened) confirm.disabled = !isAllowed;
}
