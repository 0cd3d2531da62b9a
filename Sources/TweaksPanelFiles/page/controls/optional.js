// Creates the control of an optional value: a switch for whether it is set, and a field.

import { h } from '../dom.js';
import { shown } from '../format.js';
import { field } from './field.js';

/** What is set first, where the tweak has no limit and no default. */
const first = { bool: 'true', string: '', color: '#000000', duration: '0s', point: '0,0' };

export function optional(row) {
  const { of, min, choices, default: usual } = row.tweak;
  let last = usual === 'none' ? shown(min ?? choices?.[0]?.name ?? first[of] ?? 0) : shown(usual);
  let wasUnset = false;
  const toggle = h('button.switch', {
    role: 'switch',
    part: 'switch',
    label: 'Set ' + row.label,
    onpointerdown: () => {
      wasUnset = row.wanted === 'none';
    },
    onclick: () => {
      // What was typed is sent when the field is left, which sets the value as well.
      if (wasUnset && row.wanted !== 'none') return;
      wasUnset = false;
      if (row.wanted !== 'none') last = shown(row.wanted);
      row.send({ value: row.wanted === 'none' ? last : 'none' });
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
