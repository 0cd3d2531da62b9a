// Whole numbers, numbers and durations: a field, and a slider where there is a range.

import { bdi, clean, h, icon, on, vary } from '../dom.js';
import { shown } from '../format.js';
import { measure, raise, write } from '../numbers/decimal.js';
import { atIndex, gridOf, indexOf } from '../numbers/grid.js';
import { field } from './field.js';
import { arrows } from './keys.js';
import { scrubbing } from './scrub.js';

export function number(row) {
  const { tweak } = row;
  const grid = gridOf(tweak);
  const hasRange = grid.count > 0n;
  const steps = Number(grid.count ?? 0);
  const input = field(row, {
    inputmode: tweak.kind === 'duration' ? 'text' : 'decimal',
    read: (text) => {
      const [, sign, amount] = /^\s*([+-])=\s*(.+)$/.exec(text) ?? [];
      const by = sign && row.lasts && measure(tweak.kind, amount);
      // What is set for a while has to be a value.
      if (by) {
        const now = measure(tweak.kind, shown(tweak.value));
        const scale = Math.max(now.scale, by.scale);
        return {
          value: write(tweak.kind, raise(now, scale) + (sign === '+' ? 1n : -1n) * raise(by, scale), scale),
        };
      }
      return sign
        ? { [sign === '+' ? 'add' : 'subtract']: String(Number(amount)) === amount ? Number(amount) : amount }
        : { value: text.trim() };
    },
  });
  const current = () => measure(tweak.kind, input.value) ? input.value : shown(row.wanted);
  arrows(row, input, grid, current);
  const scrub = hasRange || row.reason ? null : h('span.scrub', {
    part: 'scrub',
    'aria-hidden': 'true',
    title: 'Drag sideways; Shift is coarser, Alt is finer',
  }, icon('scrub'));
  if (scrub) scrubbing(row, scrub, grid, current);
  const box = h(
    'div',
    { class: 'box number' + (hasRange ? '' : ' wide') },
    scrub,
    input,
    tweak.unit ? h('span.unit', { title: tweak.unit }, bdi(tweak.unit)) : null,
  );
  const slider = hasRange
    ? h('input', { type: 'range', part: 'slider', min: 0, max: steps, step: 1, label: row.label })
    : null;
  const tick = h('i.tick');
  const ghost = h('i.ghost', { part: 'ghost-mark', hidden: true });
  const place = (value) => indexOf(tweak, grid, String(value)) / steps;
  if (slider) {
    on(slider, 'pointerdown', () => {
      row.isDown = true;
    });
    on(slider, 'input', () => {
      row.isEdited = false;
      row.move(atIndex(tweak, grid, slider.value));
      if (row.drag.isOver) put(row.drag.value);
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
  }
  function put(value) {
    const text = shown(value);
    input.put(text);
    if (!slider) return;
    slider.value = indexOf(tweak, grid, String(value));
    vary(slider, '--at', place(value));
    slider.setAttribute('aria-valuetext', text + (tweak.unit ? ' ' + clean(tweak.unit) : ''));
    tick.hidden = tweak.default == null || !tweak.modified;
    vary(tick, '--at', place(tweak.default ?? value));
  }
  return {
    element: h('div.line', slider ? h('div.slide', tick, slider, ghost) : null, box),
    show: put,
    restore: input.restore,
    mark(value) {
      ghost.hidden = value == null;
      if (value != null && slider) vary(ghost, '--at', place(value));
    },
  };
}
