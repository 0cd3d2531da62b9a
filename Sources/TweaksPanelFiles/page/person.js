// Keeps the ID of this window and the user's name, which every request sends in headers.

import { random } from './dom.js';
import { prefix } from './site.js';
import { isStored, store, stored } from './storage.js';

const key = prefix + 'window';
/** Restores and removes the state of the tab's last page. A duplicated tab finds none: it is a new window. */
function restore() {
  if (!isStored) return null;
  try {
    const saved = JSON.parse(sessionStorage.getItem(key));
    sessionStorage.removeItem(key);
    return saved;
  } catch {
    return null;
  }
}

function save() {
  if (!isStored) return;
  try {
    sessionStorage.setItem(key, JSON.stringify(thisWindow));
    } catch { /* full, or forbidden: the next page is a new window */ }
}

/** This window. A new window starts with the last name of this browser. */
const thisWindow = restore() ?? { id: (random() + random()).slice(0, 32), name: stored('name', '') };

// The state is stored only while no page is shown; a page from the browser's cache removes it again.
addEventListener('pagehide', save);
addEventListener('pageshow', (event) => {
  if (event.persisted) restore();
});

/** The name in this window; empty without one. */
export const currentName = () => thisWindow.name;
/** Keeps a name for this window, and for new windows of this browser. */
export function keepName(name) {
  thisWindow.name = name;
  store('name', name);
}

export const nameHeader = (name) => ({ 'Tweaks-Name': encodeURIComponent(name) });
/** The header that identifies the window. */
export const windowHeader = () => ({ 'Tweaks-Window': thisWindow.id });
/** The headers that identify the window and the user. */
export const personHeaders = () => ({ ...windowHeader(), ...nameHeader(thisWindow.name) });
