// Creates the control of an optional value: a switch for whether it is set, and a field.

import { h } from '../dom.js';
import { shown } from '../format.js';
import { field } from './field.js';

/** What is set first, where the tweak has no limit and no default. */
const first = { bool: 'true', string: '""', color: '#000000', duration: '0s' };

export function optional(row) {
  const { of, min, choices, default: usual } = row.tweak;
  let last = usual === 'none' ? shown(min ?? choices?.[0]?.name ?? first[of] ?? 0) : shown(usual);
  const toggle = h('button.switch', {
    role: 'switch',
    part: 'switch',
    label: 'Set ' + row.label,
    onclick: () => {
      const isSet = toggle.ariaChecked !== 'true';
      row.send({ value: isSet ? last : 'none' });
    },
  }, h('span'));
  const input = field(row, { placeholder: 'not set' });
  return {
    element: h('div.line.pair', toggle, h('div.box.wide', input)),
    show(value) {
      const isSet = value !== 'none';
      if (isSet) last = shown(value);
      toggle.ariaChecked = String(isSet);
      toggle.firstChild.textContent = isSet ? 'set' : 'not set';
      input.put(isSet ? shown(value) : '');
    },
  };
}
