// Handles the buttons of the toolbar: undo, redo, and the drawer, which is loaded on first use.

import { byId, on, setStyle } from './dom.js';
import { toast } from './notifications.js';
import { listen } from './signals.js';
import { step } from './undo.js';

const places = byId('places');

for (const direction of ['undo', 'redo']) on(byId(direction), 'click', () => step(direction));

for (const name of ['history', 'presets', 'import', 'people']) {
  on(byId(name), 'click', async () => {
    places.hidePopover();
    try {
      (await import('./drawer/drawer.js')).openDrawer(name);
    } catch {
      toast('This part of the page could not be loaded: the process does not respond', { isBad: true });
    }
  });
}

on(places, 'beforetoggle', () => {
  setStyle(places, 'top', byId('more').getBoundingClientRect().bottom + 6 + 'px');
});
on(matchMedia('(max-width: 760px)'), 'change', () => places.hidePopover());

// Preloaded soon after the list is shown, so that the drawer opens at once, and the sessions are counted.
listen('shown', () => setTimeout(() => import('./drawer/drawer.js').catch(() => {}), 1500));
