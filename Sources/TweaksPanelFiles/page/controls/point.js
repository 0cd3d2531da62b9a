// Creates the control of a point: a pad if both numbers have a range, and a field for each.

import { bdi, h, on, setStyle } from '../dom.js';
import { shown } from '../format.js';
import { clamp } from '../numbers/decimal.js';
import { field } from './field.js';

const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const numbersOf = (value) => String(value).split(',').map(Number);

export function point(row) {
  const { min, max, unit } = row.tweak;
  const range = min && max && !row.reason ? rangeOf(row.tweak) : null;
  const steps = range?.units ?? [0, 1].map(() => row.tweak.step ?? 1);
  const move = (numbers) => {
    if (row.drag?.isCanceled) return;
    row.move((range ? numbers.map(range.onGrid) : numbers.map(rounded)).join(','));
  };
  const moveBy = (axis, count) => {
    row.continueRun();
    move(numbersOf(row.wanted).map((number, index) => number + (index === axis ? steps[axis] * count : 0)));
  };
  const inputs = ['x', 'y'].map((name) =>
    field(row, {
      part: name,
      label: `${name}: ${row.label}`,
      inputmode: 'decimal',
      read: () => ({ value: inputs.map((input) => input.value.trim()).join(',') }),
    })
  );
  inputs.forEach((input, axis) => stepping(row, input, (count) => moveBy(axis, count)));
  const pad = range ? padOf(row, range, move, moveBy, (value) => show(value)) : null;
  function show(value) {
    numbersOf(value).forEach((number, index) => inputs[index].put(String(number)));
    pad?.show(numbersOf(value));
  }
  const boxes = inputs.map((input, index) =>
    h('div.box.number', h('span.axis', 'xy'[index]), input, unit ? h('span.unit', bdi(unit)) : null)
  );
  return {
    element: h('div.line.pair.point', pad?.element, ...boxes),
    show,
  };
}

/** Sums of steps are not exact. */
const rounded = (number) => Number(number.toPrecision(12));

/** The steps of both numbers, and the nearest valid ones. */
function rangeOf({ min, max, step }) {
  // Without a step, the largest power of ten that gives at least a hundred positions.
  const unitOf = (size) => 10 ** Math.floor(Math.log10(size / 100 || 1));
  const units = [0, 1].map((axis) => step ?? unitOf(max[axis] - min[axis]));
  const onGrid = (value, axis) => {
    const steps = Math.round((value - min[axis]) / units[axis]);
    return clamp(rounded(min[axis] + steps * units[axis]), min[axis], max[axis]);
  };
  return { min, max, units, onGrid };
}

/** Up and down step a field; the typed text is sent first. */
function stepping(row, input, moveBy) {
  on(input, 'keydown', (event) => {
    const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!way || row.isEdited) return;
    event.preventDefault();
    moveBy(way * (event.shiftKey ? 10 : event.altKey ? 0.1 : 1));
  });
  const end = () => {
    if (row.drag) row.end();
  };
  for (const name of ['keyup', 'blur']) on(input, name, end);
}

/** A small map of the range, which grows while it is used: x to the right, y downwards. */
function padOf(row, { min, max }, move, moveBy, show) {
  const size = [0, 1].map((axis) => max[axis] - min[axis]);
  const knob = h('i');
  const element = h('div.pad', {
    tabindex: '0',
    role: 'slider',
    part: 'pad',
    label: 'Place: ' + row.label,
    title: 'Drag; arrow keys move it, with Shift ten times as far',
    'aria-valuenow': 0,
  }, h('b', knob));
  const part = (number, axis) => clamp((number - min[axis]) / (size[axis] || 1), 0, 1);
  // Lines through zero, where the range has it.
  ['--zero-x', '--zero-y'].forEach((name, axis) => {
    if (min[axis] < 0 && max[axis] > 0) setStyle(element, name, part(0, axis));
  });
  let from = null;
  const at = ({ clientX, clientY }) => {
    const { left, top, width, height } = element.firstChild.getBoundingClientRect();
    return [(clientX - left) / width, (clientY - top) / height];
  };
  on(element, 'pointerdown', (event) => {
    const isOpen = element.contains(document.activeElement);
    element.focus();
    element.setPointerCapture(event.pointerId);
    row.isDown = true;
    row.begin();
    // A press on the small pad opens it; its knob then follows the movement.
    const [x, y] = at(event);
    const start = isOpen ? [x, y] : numbersOf(row.wanted).map(part);
    from = [start[0] - x, start[1] - y];
    if (isOpen) drag(event);
    event.preventDefault();
  });
  const drag = (event) =>
    move(at(event).map((place, axis) => min[axis] + clamp(place + from[axis], 0, 1) * size[axis]));
  on(element, 'pointermove', (event) => {
    if (row.isDown) drag(event);
  });
  const end = () => {
    if (!row.drag) return;
    row.isDown = false;
    row.end();
    if (row.drag?.isCanceled) show(row.tweak.value);
  };
  for (const name of ['pointerup', 'pointercancel', 'keyup', 'blur']) on(element, name, end);
  on(element, 'keydown', (event) => {
    const axis = ways[event.key]?.findIndex(Boolean);
    if (axis == null) return;
    event.preventDefault();
    moveBy(axis, ways[event.key][axis] * (event.shiftKey ? 10 : 1));
  });
  return {
    element,
    show(numbers) {
      ['--x', '--y'].forEach((name, axis) => setStyle(knob, name, part(numbers[axis], axis)));
      element.setAttribute('aria-valuetext', `x ${shown(numbers[0])}, y ${shown(numbers[1])}`);
    },
  };
}
