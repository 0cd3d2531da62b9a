// Lists the keys of the page.

import { byId, h } from './dom.js';

const keys = [
  ['/', 'Search'],
  ['Ctrl Z, Ctrl Shift Z', 'Undo, redo'],
  ['Tab', 'The next row’s control'],
  ['Esc', 'Undoes a drag, cancels typing, then leaves the control for its row'],
  ['↑ ↓', 'In a row: the next row; in a number: a step, Shift 10, Alt ⅒'],
  ['← →', 'In a row: its tools and parts'],
  ['Enter', 'In a row: its control'],
  ['r', 'Reset'],
  ['e', 'Explain'],
  ['f', 'Favorite'],
  ['t', 'Make changes temporary'],
  ['m', 'The row’s menu'],
  ['Ctrl C, Ctrl V', 'In a row: copy “path = value”, paste a value'],
  ['Left of 1', 'While held: what a reset gives; with Shift, a chosen preset'],
  ['d', 'Compact rows'],
  ['?', 'This list'],
];

export function showKeys() {
  const list = byId('keys') ?? h(
    'div',
    { id: 'keys', popover: 'auto', role: 'dialog', label: 'Keys', tabindex: '-1' },
    h('dl', ...keys.flatMap(([key, text]) => [h('dt', h('kbd', key)), h('dd', text)])),
  );
  if (!list.isConnected) document.body.append(list);
  list.togglePopover();
  list.focus();
}
