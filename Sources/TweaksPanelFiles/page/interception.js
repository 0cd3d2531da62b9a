// Detects a service worker. This page registers none, so another program has had this address.

import { emit } from './signals.js';
import { isMounted } from './site.js';

const workers = navigator.serviceWorker;

/**
 * Whether requests of this page go to a service worker, which can read and change all of them. A site
 * may have one of its own.
 */
export const isIntercepted = () => !isMounted && Boolean(workers?.controller);

/** What to tell the user. */
export const warning =
  'Another program has taken over this address in this browser, so this page sends nothing any more. ' +
  'Close it, and open the panel by tweakctl NAME panel; where the address is kept, first replace it by ' +
  'tweakctl NAME panel rotate.';

workers?.addEventListener('controllerchange', () => {
  if (isIntercepted()) emit('intercepted');
});
