// Creates the control of a boolean: a switch.

import { h } from '../dom.js';

export function bool(row) {
  const element = h('button.switch', {
    role: 'switch',
    part: 'switch',
    label: row.label,
    onclick: () => {
      const value = element.getAttribute('aria-checked') !== 'true';
      show(value);
      row.send({ value });
    },
  }, h('span'));
  const show = (value) => {
    element.setAttribute('aria-checked', value === true);
    element.lastChild.textContent = value ? 'on' : 'off';
  };
  return { element: h('div.line', element), show };
}
