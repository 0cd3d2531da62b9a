// Drags a value: many changes become one undo entry, and Escape restores the value before the drag.

import { random } from './dom.js';
import { gesture } from './rows.js';
import { emit } from './signals.js';
import { isOverridden } from './tweaks.js';

/** The base class of a row, for dragging. */
export class Draggable {
  /** The current drag. */
  drag = null;
  /** The drag ID that a sequence of key presses shares. */
  runID = '';
  /** The open editor of this row: its changes share a drag ID, and a drag is canceled as a whole. */
  editing = null;
  /** Whether the list changed during the drag, and is redrawn at its end. */
  needsRedraw = false;

  begin() {
    gesture.row = this;
    this.drag ??= {
      id: this.editing?.id || this.runID || random(),
      ...this.state,
    };
  }

  /** What `restore` needs to come back to now. */
  get state() {
    const isOverride = this.sender.isBusy || isOverridden(this.tweak);
    return { value: this.wanted, isOverride, until: this.tweak.until };
  }

  /** Reverts the changes of a drag since a state. */
  restore(state, id) {
    this.control.show(state.value);
    this.sender.push({ change: this.#before(state), settled: true, drag: id });
  }

  move(value) {
    this.begin();
    const { drag } = this;
    if (drag.isCanceled) return;
    this.control.show(value);
    if (String(value) === String(drag.last ?? drag.value)) return;
    drag.last = value;
    const change = this.nextDuration ? { value, for: this.nextDuration } : { value };
    this.sender.push({ change, settled: false, drag: drag.id });
  }

  end() {
    const { drag } = this;
    this.drag = null;
    if (drag?.last != null && !drag.isCanceled) this.send({ value: drag.last }, { drag: drag.id });
    else this.release();
    if (!this.needsRedraw) return;
    this.needsRedraw = false;
    emit('list', true);
  }

  /** Restores the value before the drag; returns false without a drag. */
  cancel() {
    const { drag } = this;
    if (!drag || drag.isCanceled) return false;
    drag.isCanceled = true;
    this.runID = '';
    if (drag.last != null) this.restore(drag, drag.id);
    else this.control.show(drag.value);
    for (const row of this.editing?.rows ?? []) row.cancel();
    return true;
  }

  /** The change that leads back to a state. */
  #before({ value, isOverride, until }) {
    if (!isOverride) return { reset: true };
    const text = typeof value === 'bigint' ? String(value) : value;
    return until ? { value: text, for: Math.max(1, until - Date.now()) + 'ms' } : { value: text };
  }

  /** Continues or begins a sequence of key presses, which become one undo entry; returns its drag ID. */
  continueRun() {
    gesture.row = this;
    clearTimeout(this.pause);
    this.pause = setTimeout(() => {
      this.runID = '';
    }, 700);
    return this.runID ||= random();
  }
}
