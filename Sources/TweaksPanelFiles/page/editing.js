// Collects the changes of some rows while an editor of them is open: one undo entry, with a way back.

import { random } from './dom.js';

export class Editing {
  /** Whether a change was made. */
  isUsed = false;
  constructor(rows) {
    this.rows = rows;
    this.id = random();
    for (const row of rows) Object.assign(row, { pickID: this.id, peers: rows });
    this.begin();
  }

  /** `restore` leads back to now. */
  begin() {
    this.before = this.rows.map((row) => row.state);
    this.isUsed = false;
  }

  get isCanceled() {
    return this.rows.some((row) => row.drag?.isCanceled);
  }

  /** Sets values of rows, as a part of a drag. */
  move(values) {
    if (this.isCanceled) return;
    this.isUsed = true;
    for (const [row, value] of values) row.move(value);
  }

  /** Ends a drag; what was canceled is not sent. */
  end() {
    for (const row of this.rows) if (row.drag) row.end();
  }

  /** Reverts all changes; returns false without any. */
  restore() {
    this.end();
    if (!this.isUsed) return false;
    this.isUsed = false;
    const { before } = this;
    this.rows.forEach((row, index) => row.restore(before[index], this.id));
    return true;
  }

  close() {
    this.end();
    for (const row of this.rows) Object.assign(row, { pickID: '', peers: [] });
  }
}
