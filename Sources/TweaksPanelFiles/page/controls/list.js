// Creates the control of a list: a chip for each element, to move and remove, and a field to add some.

import { bdi, clean, h, icon, on } from '../dom.js';
import { field } from './field.js';

/** The elements of a list, each in the syntax of the process. */
const elementsOf = (value, of) =>
  of === 'point'
    ? String(value).match(/[^,]+,[^,]+/g) ?? []
    : String(value).replace(/^\[|\]$/g, '').match(/"(?:[^"\\]|\\.)*"|[^,"\s]+/g) ?? [];

/** The text of an element without quotes. */
const plain = (element) => element.startsWith('"') ? JSON.parse(element) : element;

export function list(row) {
  const { of, flags } = row.tweak;
  const chips = h('div.chips', { role: 'list', label: row.label });
  const now = () => elementsOf(row.wanted, of);
  const send = (elements) =>
    row.send({ value: `[${elements.map((one) => of === 'point' ? `(${one})` : one).join(', ')}]` });
  // A list in brackets replaces all; other text is one element.
  const read = (text) => {
    if (text.trim().startsWith('[')) return { value: text.trim() };
    const isNumber = ['int', 'number', 'bool'].includes(of);
    const added = of === 'point' ? `(${text})` : isNumber ? text.trim() : JSON.stringify(text);
    const kept = now().map((one) => of === 'point' ? `(${one})` : one);
    return { value: `[${[...kept, added].join(', ')}]` };
  };
  const input = field(row, { read, placeholder: 'add', label: 'Add to ' + row.label });
  const chipOf = (element, index) => {
    const chip = h(
      'span.chip',
      { part: 'chip', role: 'listitem', tabindex: '-1', title: 'Drag or Alt ← → moves, Delete removes' },
      bdi(plain(element)),
      h('button', { label: `Remove ${clean(plain(element))}`, onclick: () => remove(index) }, icon('close')),
    );
    if (!row.reason) movable(chip, index);
    return chip;
  };
  const remove = (index) => {
    send(now().toSpliced(index, 1));
    (chips.children[index + 1] ?? chips.children[index - 1] ?? input).focus();
  };
  const moveTo = (index, other) => {
    const all = now();
    const place = Math.max(0, Math.min(all.length - 1, other));
    if (place !== index) send(all.toSpliced(index, 1).toSpliced(place, 0, all[index]));
    return place;
  };

  function movable(chip, index) {
    on(chip, 'keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.target !== chip || !step && !['Delete', 'Backspace'].includes(event.key)) return;
      event.preventDefault();
      if (!step) remove(index);
      else if (event.altKey) chips.children[moveTo(index, index + step)]?.focus();
      else (chips.children[index + step] ?? input).focus();
    });
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
      if (place >= 0) moveTo(index, place);
    });
    on(chip, 'pointercancel', () => chip.classList.remove('held'));
  }

  return {
    element: h('div.line.pair.list', chips, flags?.includes('read-only') ? null : h('div.box', input)),
    show(value) {
      const focused = [...chips.children].indexOf(document.activeElement);
      chips.replaceChildren(...elementsOf(value, of).map(chipOf));
      if (focused >= 0) (chips.children[focused] ?? input).focus();
      input.put('');
    },
  };
}
