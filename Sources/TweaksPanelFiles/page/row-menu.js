// Shows the menu of a row: its help, what can be done with its tweak, and how long its changes last.

import { button, float, h, on } from './dom.js';
import { copyText } from './row-keys.js';
import { favorites, has, isOverridden } from './tweaks.js';

/** Functions that give further items of a row: text, part and action. */
export const menuSources = [];
const menu = h('div', { id: 'menu', popover: 'auto', role: 'menu' });
on(menu, 'keydown', (event) => {
  const all = [...menu.querySelectorAll('button')];
  const step = { ArrowDown: 1, ArrowUp: all.length - 1 }[event.key];
  if (step) {
    event.preventDefault();
    all[(all.indexOf(document.activeElement) + step) % all.length].focus();
  }
});
let opener = null;
on(menu, 'beforetoggle', (event) => opener?.setAttribute('aria-expanded', event.newState === 'open'));

function show(label, beside, ...children) {
  menu.hidePopover();
  opener?.setAttribute('aria-expanded', 'false');
  opener = beside;
  menu.setAttribute('aria-label', label);
  menu.replaceChildren(...children.filter(Boolean));
  beside.after(menu);
  menu.showPopover();
  float(menu, beside);
  menu.querySelector('button').focus();
}

const item = (text, part, action) =>
  button(text, () => {
    menu.hidePopover();
    opener.focus();
    action();
  }, { class: 'button plain', role: 'menuitem', part });

/** Everything that the tools of a row do, for fingers, and its help. */
export function openRowMenu(row, beside) {
  const { tweak } = row;
  const canReset = isOverridden(tweak) && !row.reason;
  show(
    row.label,
    beside,
    tweak.help && h('p', { dir: 'auto' }, tweak.help),
    canReset && item('Reset', 'menu-reset', () => row.act('reset')),
    item('Explain', 'menu-explain', () => row.act('explain')),
    item(favorites.has(tweak.path) ? 'No favorite' : 'Favorite', 'menu-star', () => row.act('star')),
    !has(tweak, 'secret') && tweak.kind !== 'action' && item('Copy', 'menu-copy', () => copyText(row)),
    ...menuSources.flatMap((source) => source(row)).map(([text, part, action]) => item(text, part, action)),
    ...row.durationButton.hidden ? [] : durations(row),
  );
}

export const openDurationMenu = (row, beside) => show('How long a change lasts', beside, ...durations(row));

function durations(row) {
  const { tweak } = row;
  return [
    h('p', tweak.until ? 'This value lasts' : 'Keep next change for …'),
    ...[['1m', '1 minute'], ['10m', '10 minutes'], ['1h', '1 hour']].map(([span, text]) =>
      item(text, 'for-' + span, () => {
        row.arm(span);
        if (tweak.until && !has(tweak, 'secret')) row.send({ value: String(tweak.value) });
      })
    ),
    row.isArmed && item('Make changes permanent', 'disarm', () => row.arm('')),
    tweak.until && item('Make permanent', 'keep', () => {
      row.arm('');
      row.send({ keep: true });
    }),
  ];
}
