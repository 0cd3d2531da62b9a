// Knows which window this is, and how the person there wants to be called: every request says both.

import { random } from './dom.js';
import { store, stored } from './storage.js';

const key = 'tweaks.window';
/** Takes what the page before has left in this tab. A copy of a tab finds nothing: it is another window. */
function take() {
  try {
    const left = JSON.parse(sessionStorage.getItem(key));
    sessionStorage.removeItem(key);
    return left;
  } catch {
    return null;
  }
}

function leave() {
  try {
    sessionStorage.setItem(key, JSON.stringify(here));
  } catch { /* full, or forbidden: the next page is another window */ }
}

/** This window. A new one has the name that was last given in this browser. */
const here = take() ?? { id: (random() + random()).slice(0, 32), name: stored('name', '') };

// While a page is shown, its tab holds nothing; one that comes back from the browser's cache takes it again.
addEventListener('pagehide', leave);
addEventListener('pageshow', (event) => {
  if (event.persisted) take();
});

/** The name that is given in this window; empty where none is. */
export const nameHere = () => here.name;
/** Keeps a name for this window, and for those that this browser opens later. */
export function keepName(name) {
  here.name = name;
  store('name', name);
}

export const nameHeader = (name) => ({ 'Tweaks-Name': encodeURIComponent(name) });
/** What every request says of who asks. */
export const personHeaders = () => ({ 'Tweaks-Window': here.id, ...nameHeader(here.name) });
