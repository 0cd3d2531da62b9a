// Creates the control of integers, numbers and durations: a field, and a slider if there is a range.

import { bdi, clean, h, on, setStyle } from '../dom.js';
import { shown } from '../format.js';
import { measure } from '../numbers/decimal.js';
import { atIndex, gridOf, indexOf } from '../numbers/grid.js';
import { field } from './field.js';
import { arrows } from './keys.js';
import { scrubbing } from './scrub.js';

export function number(row) {
  const { tweak } = row;
  const grid = gridOf(tweak);
  const input = field(row, {
    inputmode: tweak.kind === 'duration' ? 'text' : 'decimal',
    read: (text) => read(row, text),
    class: 'scrubbed',
    title: 'Drag sideways; Shift is coarser, Alt is finer',
  });
  const current = () => measure(tweak.kind, input.value) ? input.value : shown(row.wanted);
  arrows(row, input, grid, current);
  scrubbing(row, input, grid, current);
  const box = h(
    'div',
    { class: 'box number' + (grid.count > 0n ? '' : ' wide') },
    input,
    tweak.unit ? h('span.unit', { title: tweak.unit }, bdi(tweak.unit)) : null,
  );
  const slider = grid.count > 0n ? sliderOf(row, grid, (value) => show(value)) : null;
  function show(value) {
    input.put(shown(value));
    slider?.show(value);
  }
  return {
    element: h('div.line', slider?.element, box),
    show,
    mark: (value) => slider?.mark(value),
  };
}

/** Parses typed text as a change. */
function read(row, text) {
  const [, sign, amount] = /^\s*([+*/-])=\s*(.+?)\s*$/.exec(text) ?? [];
  if (!sign) return { value: text.trim() };
  const isPlain = String(Number(amount)) === amount;
  // The process adds, but does not multiply; and a temporary change must be a value. It gets a calculation.
  if (sign === '*' || sign === '/' || row.nextDuration) {
    return { value: row.tweak.value + sign + (isPlain ? amount : `(${amount})`) };
  }
  return { [sign === '+' ? 'add' : 'subtract']: isPlain ? Number(amount) : amount };
}

function sliderOf(row, grid, show) {
  const { tweak } = row;
  const steps = Number(grid.count);
  const slider = h('input', { type: 'range', part: 'slider', min: 0, max: steps, step: 1, label: row.label });
  const tick = h('i.tick');
  const ghost = h('i.ghost', { part: 'ghost-mark', hidden: true });
  const place = (value) => indexOf(tweak, grid, String(value)) / steps;
  // A range on both sides of zero is filled from there.
  if (grid.low < 0n && grid.high > 0n) {
    slider.className = 'signed';
    setStyle(slider, '--from', place(0));
  }
  on(slider, 'pointerdown', () => {
    row.isDown = true;
  });
  on(slider, 'input', () => {
    row.move(atIndex(tweak, grid, slider.value));
    if (row.drag.isCanceled) show(row.drag.value);
  });
  on(slider, 'change', () => {
    row.isDown = false;
    row.end();
  });
  for (const name of ['pointerup', 'pointercancel']) {
    on(slider, name, () => {
      row.isDown = false;
      setTimeout(() => row.drag && row.end());
    });
  }
  arrows(row, slider, grid, () => shown(row.wanted));
  return {
    element: h('div.slide', tick, slider, ghost),
    show(value) {
      slider.value = indexOf(tweak, grid, String(value));
      setStyle(slider, '--at', place(value));
      slider.setAttribute('aria-valuetext', shown(value) + (tweak.unit ? ' ' + clean(tweak.unit) : ''));
      tick.hidden = tweak.default == null || !tweak.modified;
      setStyle(tick, '--at', place(tweak.default ?? value));
    },
    /** Marks the value that another client has set meanwhile. */
    mark(value) {
      ghost.hidden = value == null;
      if (value != null) setStyle(ghost, '--at', place(value));
    },
  };
}
