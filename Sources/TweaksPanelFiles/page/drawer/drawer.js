// Opens the drawer with its tabs: beside the list where there is room for both, else above it.

import { button, byId, h, icon, on, replaceContent, root } from '../dom.js';
import { listen } from '../signals.js';
import { showHistory } from './history.js';
import { drawer, isAbove, pane, setTab, tab } from './pane.js';
import { showPeople } from './people.js';
import { showPresets } from './presets.js';
import { showImport } from './transfer.js';

/** The tabs in their order: title, and what shows them. */
export const tabs = {
  history: ['History', showHistory],
  presets: ['Presets', showPresets],
  import: ['Import, export', showImport],
  people: ['People', showPeople],
};

const wide = matchMedia('(min-width: 761px)');
const toasts = byId('toasts');

/** Opens a tab; a second press of its button closes the drawer. */
export function toggleDrawer(name) {
  if (drawer.open && tab === name) drawer.close();
  else openDrawer(name);
}

/** Opens a tab; Import takes the look that it shows. */
export function openDrawer(name, look) {
  setTab(name);
  replaceContent(drawer.firstElementChild, [
    ...Object.entries(tabs).map(([key, [text]]) =>
      button(text, () => openDrawer(key), {
        class: 'button plain',
        'aria-current': key === name ? 'true' : null,
        'data-tab': key,
      })
    ),
    h('button.button.plain.close', { label: 'Close', onclick: () => drawer.close() }, icon('close')),
  ]);
  if (!drawer.open) {
    root.toggleAttribute('data-aside', wide.matches);
    if (wide.matches) drawer.show();
    else drawer.showModal();
    drawer.append(toasts);
  }
  pane.setAttribute('aria-label', tabs[name][0]);
  pane.replaceChildren(h('p.soft', 'Loading…'));
  tabs[name][1](look);
}

on(drawer, 'click', (event) => {
  if (event.target === drawer && isAbove()) drawer.close();
});

// Escape first ends what is nearer: a drag, a popover, an edit.
addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.defaultPrevented || !drawer.open || isAbove()) return;
  // Lines to import stay.
  if (document.activeElement.localName === 'textarea' && document.activeElement.value) return;
  if (!document.querySelector('[popover]:popover-open')) drawer.close();
});

on(drawer, 'close', () => {
  // It may be open again by then.
  if (drawer.open) return;
  // The content would be outdated when the drawer is opened again.
  pane.replaceChildren();
  root.removeAttribute('data-aside');
  document.body.append(toasts);
});

on(wide, 'change', () => {
  if (!drawer.open) return;
  drawer.close();
  openDrawer(tab);
});

listen('count', () => {
  if (drawer.open && tab === 'history') showHistory();
});
