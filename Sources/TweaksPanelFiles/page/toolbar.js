// Handles the buttons of the toolbar: undo, redo, and the drawer.

import './bake/copy.js';
import { byId, on, setStyle } from './dom.js';
// With the page: code that is loaded later may be of another program that has the port by then.
import { toggleDrawer } from './drawer/drawer.js';
import { step } from './undo.js';

const places = byId('places');

for (const direction of ['undo', 'redo']) on(byId(direction), 'click', () => step(direction));

for (const name of ['history', 'presets', 'import', 'people']) {
  on(byId(name), 'click', () => {
    places.hidePopover();
    toggleDrawer(name);
  });
}

on(places, 'beforetoggle', () => {
  setStyle(places, 'top', byId('more').getBoundingClientRect().bottom + 6 + 'px');
});
on(matchMedia('(max-width: 760px)'), 'change', () => places.hidePopover());
