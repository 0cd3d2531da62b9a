// Creates the control of a point: a pad if both numbers have a range, and a field for each.

import { h, on, setStyle } from '../dom.js';
import { shown } from '../format.js';
import { clamp } from '../numbers/decimal.js';
import { field } from './field.js';

export function point(row) {
  const { min, max } = row.tweak;
  const inputs = ['x', 'y'].map((name) =>
    field(row, {
      part: name,
      label: `${name}: ${row.label}`,
      inputmode: 'decimal',
      read: () => ({ value: inputs.map((input) => input.value.trim()).join(',') }),
    })
  );
  const pad = min && max && !row.reason ? padOf(row, (value) => show(value)) : null;
  function show(value) {
    numbersOf(value).forEach((number, index) => inputs[index].put(String(number)));
    pad?.show(numbersOf(value));
  }
  const boxes = inputs.map((input, index) => h('div.box.number', h('span.unit', 'xy'[index]), input));
  return {
    element: h('div.line', pad?.element, ...boxes),
    show,
  };
}

const numbersOf = (value) => String(value).split(',').map(Number);

/** A small map of the range: x to the right, y downwards. */
function padOf(row, show) {
  const { min, max, step } = row.tweak;
  const knob = h('i');
  const element = h('div.pad', {
    tabindex: '0',
    role: 'slider',
    part: 'pad',
    label: 'Place: ' + row.label,
    title: 'Drag; arrow keys move it, with Shift ten times as far',
    'aria-valuenow': 0,
  }, knob);
  // Without a step, the largest power of ten that gives at least a hundred positions.
  const unitOf = (size) => 10 ** Math.floor(Math.log10(size / 100 || 1));
  const units = [0, 1].map((axis) => step ?? unitOf(max[axis] - min[axis]));
  const onGrid = (value, axis) => {
    const steps = Math.round((value - min[axis]) / units[axis]);
    return clamp(Number((min[axis] + steps * units[axis]).toPrecision(12)), min[axis], max[axis]);
  };
  const move = (numbers) => {
    if (row.drag?.isCanceled) return;
    row.move(numbers.map(onGrid).join(','));
  };
  const at = ({ clientX, clientY }) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const parts = [(clientX - left) / width, (clientY - top) / height];
    move(parts.map((part, axis) => min[axis] + clamp(part, 0, 1) * (max[axis] - min[axis])));
  };
  on(element, 'pointerdown', (event) => {
    element.setPointerCapture(event.pointerId);
    row.isDown = true;
    at(event);
  });
  on(element, 'pointermove', (event) => {
    if (row.isDown) at(event);
  });
  const end = () => {
    if (!row.drag) return;
    row.isDown = false;
    row.end();
    if (row.drag?.isCanceled) show(row.tweak.value);
  };
  for (const name of ['pointerup', 'pointercancel', 'keyup', 'blur']) on(element, name, end);
  on(element, 'keydown', (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way) return;
    event.preventDefault();
    row.continueRun();
    const count = event.shiftKey ? 10 : 1;
    move(numbersOf(row.wanted).map((number, axis) => number + way[axis] * units[axis] * count));
  });
  return {
    element,
    show(numbers) {
      const part = (axis) => clamp((numbers[axis] - min[axis]) / (max[axis] - min[axis] || 1), 0, 1);
      setStyle(knob, '--x', part(0));
      setStyle(knob, '--y', part(1));
      element.setAttribute('aria-valuetext', `x ${shown(numbers[0])}, y ${shown(numbers[1])}`);
    },
  };
}
