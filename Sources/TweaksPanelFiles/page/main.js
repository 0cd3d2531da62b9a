// Starts the page: global keys, the address, and the connection.

import './compare/keys.js';
import './motion/editor.js';
import './name-request.js';
import './toolbar.js';
import { connect, connectNow } from './connection.js';
import { toggleDensity } from './density.js';
import { byId, on, root, setStyle } from './dom.js';
import { showKeys } from './key-list.js';
import { open } from './list.js';
import { gesture } from './rows.js';
import { may } from './session.js';
import { takeLook } from './share/arrival.js';
import { lookIn } from './share/look.js';
import { signIn } from './sign-in-form.js';
import { isMounted } from './site.js';
import { step } from './undo.js';

const mac = /Mac|iP/.test(navigator.platform);
// Escape first cancels the current drag.
addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !gesture.row?.cancel()) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

// A pointer ends a sequence of key presses.
addEventListener('pointerdown', () => {
  if (gesture.row) gesture.row.runID = '';
}, true);

const isTyping = (element) =>
  element?.matches?.('textarea, input:not([type=range], [type=radio], [type=file])');
/** Whether a letter is a key of the page: not of a menu, which searches its choices. */
const isPlain = ({ ctrlKey, metaKey, altKey, target }) =>
  !ctrlKey && !metaKey && !altKey && target.localName !== 'select';
/** Steps back or forth instead of the browser, unless that has typed text to change. */
function stepInstead(event, direction) {
  const { target } = event;
  if (isTyping(target) && (target.isEdited?.() ?? true)) return;
  event.preventDefault();
  if (may('write')) step(direction);
}

function directionOf({ key, ctrlKey, metaKey, shiftKey }) {
  if (!(mac ? metaKey : ctrlKey)) return null;
  return { z: shiftKey ? 'redo' : 'undo', y: mac ? null : 'redo' }[key.toLowerCase()];
}

// The menus of the browser undo, too.
addEventListener('beforeinput', (event) => {
  const direction = { historyUndo: 'undo', historyRedo: 'redo' }[event.inputType];
  if (direction) stepInstead(event, direction);
});

addEventListener('keydown', (event) => {
  const direction = directionOf(event);
  if (direction) stepInstead(event, direction);
  else if (event.key === '/' && !isTyping(event.target) && !byId('drawer').matches(':modal')) {
    event.preventDefault();
    byId('search').focus();
    byId('search').select();
  } else if (['d', '?'].includes(event.key) && isPlain(event) && !isTyping(event.target)) {
    event.preventDefault();
    if (event.key === 'd') toggleDensity();
    else showKeys();
  }
});

addEventListener('online', connectNow);
on(document, 'visibilitychange', connectNow);
addEventListener('hashchange', ({ oldURL }) => begin(new URL(oldURL).hash));
addEventListener('popstate', () => {
  if (!isRequest(location.hash)) open();
});

new ResizeObserver(([entry]) => setStyle(root, '--head', entry.target.offsetHeight + 'px')).observe(
  document.querySelector('.bar'),
);
/** Whether a fragment is not of a view, but of a link that signs in or has a look. */
const isRequest = (hash) => hash.startsWith('#code=') || lookIn(hash) != null;

/** Handles the address; `before` is the fragment that a running page had. */
function begin(before = null) {
  const [, code, rest] = /^#code=([^&]+)&?(.*)$/.exec(location.hash) ?? [];
  if (code) history.replaceState(null, '', rest ? '#' + rest : location.pathname);
  if (code && !isMounted) {
    signIn(decodeURIComponent(code));
  } else if (before == null) connect();
  takeLook(before && !isRequest(before) ? before : null);
}

begin();
