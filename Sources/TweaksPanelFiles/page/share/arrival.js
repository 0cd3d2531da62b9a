// Opens the look that the address has as a preview of an import, once the page is connected.

import { openDrawer } from '../drawer/drawer.js';
import { offer } from '../notifications.js';
import { isConnected } from '../session.js';
import { listen } from '../signals.js';
import { lookIn } from './look.js';

let waiting = null;

/** Takes a look from the address; `before` is the fragment that a running page had. */
export function takeLook(before) {
  const look = lookIn(location.hash);
  if (look == null) return;
  waiting = look;
  // A page that is loaded again before the user has signed in still has the link.
  if (before != null) leaveLink(before);
  show();
}

function show() {
  if (waiting == null || !isConnected()) return;
  const look = waiting;
  waiting = null;
  if (lookIn(location.hash) != null) leaveLink('');
  const field = document.querySelector('#pane [data-part=import-text]');
  // Lines that were typed there stay until the user lets them go.
  const open = () => openDrawer('import', look);
  if (field?.isTyped && field.value) offer('A link has brought a look', 'Show it', open);
  else open();
}

/** Restores the address, so that loading the page again does not bring the look back. */
const leaveLink = (hash) => history.replaceState(null, '', hash || location.pathname);

listen('count', show);
