// Shows the menu for the duration of a row's changes.

import { button, float, h, on } from './dom.js';
import { has } from './tweaks.js';

const menu = h('div', { id: 'menu', popover: 'auto', role: 'menu', label: 'How long a change lasts' });
on(menu, 'keydown', (event) => {
  const all = [...menu.querySelectorAll('button')];
  const step = { ArrowDown: 1, ArrowUp: all.length - 1 }[event.key];
  if (step) {
    event.preventDefault();
    all[(all.indexOf(document.activeElement) + step) % all.length].focus();
  }
});

export function openDurationMenu(row) {
  const { tweak } = row;
  const item = (text, part, action) =>
    button(text, () => {
      menu.hidePopover();
      row.durationButton.focus();
      action();
    }, { class: 'button plain', role: 'menuitem', part: part });
  const spans = [['1m', '1 minute'], ['10m', '10 minutes'], ['1h', '1 hour']];
  menu.replaceChildren(
    h('p', tweak.until ? 'This value lasts' : 'Keep next change for …'),
    ...spans.map(([span, text]) =>
      item(text, 'for-' + span, () => {
        row.arm(span);
        if (tweak.until && !has(tweak, 'secret')) row.send({ value: String(tweak.value) });
      })
    ),
    tweak.until
      ? item('Make permanent', 'keep', () => {
        row.arm('');
        row.send({ keep: true });
      })
      : '',
  );
  row.durationButton.after(menu);
  menu.showPopover();
  float(menu, row.durationButton);
  menu.querySelector('button').focus();
}
