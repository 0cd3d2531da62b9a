// A drag: many values, one entry to undo, and back to the beginning with Escape.

import { random } from './dom.js';
import { gesture } from './rows.js';
import { emit } from './signals.js';
import { isOverridden } from './tweaks.js';

/** What a row is as far as it can be dragged. */
export class Draggable {
  /** The drag that is under way. */
  drag = null;
  /** The name of a run of presses. */
  run = '';
  /** The list changed meanwhile, and is drawn when the drag ends. */
  isLate = false;

  begin() {
    gesture.row = this;
    this.drag ??= {
      id: this.run || random(),
      value: this.wanted,
      isOverride: this.sender.isBusy || isOverridden(this.tweak),
      until: this.tweak.until,
    };
  }

  move(value) {
    this.begin();
    const { drag } = this;
    if (drag.isOver || String(value) === String(drag.last ?? drag.value)) return;
    drag.last = value;
    this.control.show(value);
    const change = this.lasts ? { value, for: this.lasts } : { value };
    this.sender.push({ change, settled: false, drag: drag.id });
  }

  end() {
    const { drag } = this;
    this.drag = null;
    if (drag?.last != null && !drag.isOver) this.send({ value: drag.last }, { drag: drag.id });
    else this.release();
    if (!this.isLate) return;
    this.isLate = false;
    emit('list', true);
  }

  /** Goes back to where it began; false where nothing is dragged. */
  cancel() {
    const { drag } = this;
    if (!drag || drag.isOver) return false;
    drag.isOver = true;
    this.run = '';
    this.control.show(drag.value);
    if (drag.last != null) this.sender.push({ change: this.#before(drag), settled: true, drag: drag.id });
    return true;
  }

  /** The change that takes a drag back. */
  #before({ value, isOverride, until }) {
    if (!isOverride) return { reset: true };
    const text = typeof value === 'bigint' ? String(value) : value;
    return until ? { value: text, for: Math.max(1, until - Date.now()) + 'ms' } : { value: text };
  }

  /** Keys that follow each other are one entry to undo: each press goes by the name of the first. */
  runOn() {
    gesture.row = this;
    clearTimeout(this.pause);
    this.pause = setTimeout(() => {
      this.run = '';
    }, 700);
    return this.run ||= random();
  }
}
