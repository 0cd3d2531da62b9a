// Opens the drawer with its tabs: history, presets, import and export, people.

import { button, h, icon, on, replaceContent } from '../dom.js';
import { listen } from '../signals.js';
import { showHistory } from './history.js';
import { drawer, pane, setTab, tab } from './pane.js';
import { showPeople } from './people.js';
import { showPresets } from './presets.js';
import { showImport } from './transfer.js';

const tabs = {
  history: ['History', showHistory],
  presets: ['Presets', showPresets],
  import: ['Import, export', showImport],
  people: ['People', showPeople],
};

export function openDrawer(name) {
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
  if (!drawer.open) drawer.showModal();
  pane.setAttribute('aria-label', tabs[name][0]);
  pane.replaceChildren(h('p.soft', 'Loading…'));
  tabs[name][1]();
}

on(drawer, 'click', (event) => {
  if (event.target === drawer) drawer.close();
});

// The content would be outdated when the drawer is opened again.
on(drawer, 'close', () => pane.replaceChildren());

listen('count', () => {
  if (drawer.open && tab === 'history') showHistory();
});
