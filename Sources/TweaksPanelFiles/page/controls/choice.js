// Creates the control of a choice: a segmented control for up to five choices, otherwise a menu.

import { h, random } from '../dom.js';
import { picking } from './keys.js';

export function choice(row) {
  const { choices = [] } = row.tweak;
  if (choices.length > 5) {
    const element = h('select', {
      part: 'select',
      label: row.label,
      onchange: () => pick(element.selectedOptions[0].choice),
    });
    const pick = picking(row, element);
    for (const { name, label } of choices) {
      const option = h('option', { value: name }, label ?? name);
      option.choice = name;
      element.append(option);
    }
    return {
      element: h('div.line', h('div.box', element)),
      show: (value) => {
        element.selectedIndex = choices.findIndex((choice) => choice.name === value);
      },
    };
  }
  const name = random();
  const radios = choices.map((choice) =>
    h('input', {
      type: 'radio',
      name,
      value: choice.name,
      part: 'option',
      onchange: () => pick(choice.name),
    })
  );
  const group = h(
    'div.seg',
    { role: 'radiogroup', label: row.label },
    ...choices.map(({ name, label }, index) =>
      h('label', radios[index], h('span', { dir: 'auto' }, label ?? name))
    ),
  );
  const pick = picking(row, group);
  return {
    element: h('div.line', group),
    show(value) {
      radios.forEach((radio, index) => {
        radio.checked = choices[index].name === value;
      });
      // The focus follows the selection, so that arrow keys continue from there.
      if (group.contains(document.activeElement)) {
        radios.find((radio) => radio.checked)?.focus({
          preventScroll: true,
        });
      }
    },
  };
}
