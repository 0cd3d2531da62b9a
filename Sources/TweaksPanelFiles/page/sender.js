// Sends the changes of a row: one request at a time, only the newest value, at most one per frame.

import { request } from './requests.js';

/** Senders with unsent changes or a pending reply. */
export const busy = new Set();
export class Sender {
  next = null;
  current = null;
  frame = 0;
  mark = null;
  constructor(row) {
    this.row = row;
  }
  get isSending() {
    return this.current != null;
  }
  get isBusy() {
    return this.isSending || this.next != null;
  }
  /** The value after all pending changes; undefined without any. */
  get wanted() {
    return (this.next ?? this.current)?.change.value;
  }
  /** Marks the row as pending; visible only after a delay, since most replies are faster. */
  markPending(isPending) {
    this.row.element.ariaBusy = isPending;
    if (isPending) {
      this.mark ??= setTimeout(() => this.row.element.toggleAttribute('data-pending', true), 400);
    } else {
      clearTimeout(this.mark);
      this.mark = null;
      this.row.element.removeAttribute('data-pending');
    }
  }
  push(job) {
    this.next = job;
    busy.add(this);
    this.markPending(true);
    if (job.settled) {
      cancelAnimationFrame(this.frame);
      this.frame = 0;
      this.pump();
    } else if (!this.frame) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.pump();
      });
    }
  }
  async pump() {
    if (this.isSending || !this.next) return;
    const job = this.next;
    const { row } = this;
    this.next = null;
    this.current = job;
    try {
      const headers = job.drag ? { 'Tweaks-Drag': job.drag } : {};
      const reply = await request('PATCH', '/api/tweaks', {
        settled: job.settled,
        changes: [{ path: row.tweak.path, ...job.change }],
      }, headers);
      this.current = null;
      row.accepted(reply, job);
    } catch (error) {
      this.current = null;
      if (!this.next || job.settled) row.failed(error, job);
    }
    if (!this.next) {
      busy.delete(this);
      this.markPending(false);
    } else if (!this.frame) {
      if (this.next.settled) this.pump();
      else this.push(this.next);
    }
  }
}
