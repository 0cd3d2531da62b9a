// Creates the control of a list: a chip for each element, to move and remove, and a field to add some.

import { bdi, clean, h, icon, on } from '../dom.js';
import { orderFocus } from '../row-keys.js';
import { field } from './field.js';

/** The elements of a list as the process writes it, each in its syntax. */
const elementsOf = (value, of) =>
  of === 'point'
    ? (String(value).replace(/[[\]()\s]/g, '').match(/[^,]+,[^,]+/g) ?? []).map((point) => `(${point})`)
    : String(value).replace(/^\[|\]$/g, '').match(/"(?:[^"\\]|\\.)*"|[^,"\s]+/g) ?? [];

/** The text of an element without quotes or parentheses. */
const plain = (element) => element.startsWith('"') ? JSON.parse(element) : element.replace(/^\(|\)$/g, '');

export function list(row) {
  const { of } = row.tweak;
  const chips = h('div.chips', { role: 'list', label: row.label });
  const element = h('div.line.pair.list', chips);
  /** What the chips show: the value, or what was just sent. */
  let elements = [];

  // A list in brackets replaces all; other text is one more element.
  const read = (text) => {
    const typed = text.trim();
    if (typed.startsWith('[')) return { value: typed };
    const isNumber = ['int', 'number', 'bool'].includes(of);
    const added = of === 'point' ? `(${plain(typed)})` : isNumber ? typed : JSON.stringify(text);
    return { value: `[${[...elements, added].join(', ')}]` };
  };
  const input = field(row, { read, placeholder: 'add', label: 'Add to ' + row.label });
  element.append(h('div.box', input));

  function draw(all) {
    elements = all;
    const isInside = element.contains(document.activeElement);
    chips.replaceChildren(...all.map(chipOf));
    orderFocus(row, isInside);
  }

  /** Shows the elements before they are accepted, so that the next key finds them. */
  function send(all, focus) {
    if (row.reason) return;
    draw(all);
    (chips.children[focus] ?? chips.children[focus - 1] ?? input).focus();
    row.send({ value: `[${all.join(', ')}]` });
  }

  const remove = (index) => send(elements.toSpliced(index, 1), index);
  const moveTo = (index, other) => {
    const place = Math.max(0, Math.min(elements.length - 1, other));
    if (place !== index) send(elements.toSpliced(index, 1).toSpliced(place, 0, elements[index]), place);
  };

  function chipOf(one, index) {
    const text = plain(one);
    const chip = h(
      'span.chip',
      {
        part: 'chip',
        role: 'listitem',
        tabindex: row.reason ? null : '-1',
        title: row.reason || 'Drag or Alt ← → moves, Delete removes',
      },
      bdi(text),
      h('button', {
        label: `Remove ${clean(text)}`,
        tabindex: '-1',
        disabled: Boolean(row.reason),
        onclick: () => remove(index),
      }, icon('close')),
    );
    on(chip, 'keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.target !== chip || !step && !['Delete', 'Backspace'].includes(event.key)) return;
      event.preventDefault();
      if (!step) remove(index);
      else if (event.altKey) moveTo(index, index + step);
      else (chips.children[index + step] ?? input).focus();
    });
    if (!row.reason) draggable(chip, index);
    return chip;
  }

  function draggable(chip, index) {
    on(chip, 'pointerdown', (event) => {
      if (event.target.closest('button')) return;
      chip.setPointerCapture(event.pointerId);
      chip.classList.add('held');
    });
    on(chip, 'pointerup', (event) => {
      if (!chip.classList.contains('held')) return;
      chip.classList.remove('held');
      const under = document.elementFromPoint(event.clientX, event.clientY)?.closest('.chip');
      const place = [...chips.children].indexOf(under);
      if (place === index) chip.focus();
      else if (place >= 0) moveTo(index, place);
    });
    on(chip, 'pointercancel', () => chip.classList.remove('held'));
  }

  return {
    element,
    show(value) {
      const focused = [...chips.children].indexOf(document.activeElement);
      draw(elementsOf(value, of));
      if (focused >= 0) (chips.children[focused] ?? input).focus();
      input.put('');
    },
  };
}
