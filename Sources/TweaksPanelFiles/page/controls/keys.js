// Handles keys that step through values; a sequence of presses is one undo entry.

import { on } from '../dom.js';
import { atIndex, stepped } from '../numbers/grid.js';

/** Arrow keys: one step, ten with Shift, a tenth with Alt; a sequence of presses is one drag. */
export function arrows(row, element, grid, current) {
  const { tweak } = row;
  const isSlider = element.type === 'range';
  const counts = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
  if (isSlider) Object.assign(counts, { ArrowRight: 1, ArrowLeft: -1 });
  const next = ({ key, shiftKey, altKey }) => {
    if (isSlider && key === 'Home') return atIndex(tweak, grid, 0);
    if (isSlider && key === 'End') return atIndex(tweak, grid, grid.count);
    return key in counts
      ? stepped(tweak, grid, current(), counts[key], shiftKey ? 1 : altKey ? -1 : 0)
      : null;
  };
  on(element, 'keydown', (event) => {
    const text = next(event);
    if (text == null) return;
    event.preventDefault();
    row.continueRun();
    row.move(text);
  });
  const end = () => {
    if (row.drag && !row.isDown) {
      row.continueRun();
      row.end();
    }
  };
  on(element, 'keyup', (event) => {
    if (!['Shift', 'Alt', 'Escape'].includes(event.key)) end();
  });
  on(element, 'blur', end);
}

/** Sends picked values; values picked by a sequence of keys share one drag. */
export function picking(row, element) {
  let isByKey = false;
  on(element, 'keydown', () => {
    isByKey = true;
  });
  for (const name of ['keyup', 'pointerdown']) {
    on(element, name, () => {
      isByKey = false;
    });
  }
  return (value) => row.send({ value }, isByKey ? { drag: row.continueRun() } : {});
}
