// Collects the changes of some rows while an editor of them is open: one undo entry, with a way back.

import { random } from './dom.js';

export class Editing {
  /** The rows that it has changed. */
  #moved = new Set();
  constructor(rows) {
    this.rows = rows;
    this.id = random();
    for (const row of rows) row.editing = this;
    this.begin();
  }

  /** `restore` leads back to now. */
  begin() {
    this.before = this.rows.map((row) => row.state);
    this.#moved.clear();
  }

  /** Another client has changed a row: `restore` leaves that as it is. */
  follow(row) {
    this.before[this.rows.indexOf(row)] = row.state;
    this.#moved.delete(row);
  }

  /** Whether a change was made. */
  get isUsed() {
    return this.#moved.size > 0;
  }
  get isCanceled() {
    return this.rows.some((row) => row.drag?.isCanceled);
  }

  /** Notes that a row is changed. */
  note(row) {
    this.#moved.add(row);
  }

  /** Sets values of rows, as a part of a drag. */
  move(values) {
    if (this.isCanceled) return;
    for (const [row, value] of values) {
      if (!row.drag && String(row.wanted) === String(value)) continue;
      this.note(row);
      row.move(value);
    }
  }

  /** Ends a drag; what was canceled is not sent. */
  end() {
    for (const row of this.rows) if (row.drag) row.end();
  }

  /** Reverts all changes. */
  restore() {
    this.end();
    const moved = this.rows.map((row, index) => [row, this.before[index]])
      .filter(([row]) => this.#moved.has(row));
    this.#moved.clear();
    for (const [row, state] of moved) row.restore(state, this.id);
  }

  close() {
    this.end();
    for (const row of this.rows) row.editing = null;
  }
}
