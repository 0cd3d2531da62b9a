// Draws the last minute of a figure in its row, and opens the chart below it.

import { h, root, svg } from '../dom.js';
import { rows } from '../rows.js';
import { linePath, partsWithoutGap, projection, scaleOf } from './chart.js';
import { Detail } from './detail.js';
import { numberOf, Samples } from './samples.js';

const shownSeconds = 60;
const box = { left: 0, top: 1, right: 100, bottom: 19 };

/** The first view of a figure loads what was before. */
const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) target.sparkline.see(isIntersecting);
});

/** Loads one after the other: a list may have many. */
let loading = Promise.resolve();

export class Sparkline {
  #line = svg('path', { 'vector-effect': 'non-scaling-stroke' });
  #isSeen = false;
  constructor(row) {
    const { tweak } = row;
    this.samples = new Samples(tweak);
    const bound = (value) => value == null ? null : numberOf(tweak, value);
    this.bounds = { low: bound(tweak.min), high: bound(tweak.max) };
    const picture = svg('svg', { viewBox: '0 0 100 20', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
    picture.append(this.#line);
    this.element = h('button.spark', {
      part: 'sparkline',
      label: `Chart: ${row.label}`,
      'aria-expanded': 'false',
      onclick: () => this.detail.toggle(),
    }, picture);
    this.element.sparkline = this;
    this.detail = new Detail(row, this);
    seen.observe(this.element);
  }

  see(isSeen) {
    this.#isSeen = isSeen;
    if (!isSeen) return;
    this.#load();
    this.draw();
  }

  #load() {
    loading = loading.then(() => this.samples.load(shownSeconds)).then((isNew) => isNew && this.draw());
  }

  /** Takes the sample of a second. */
  tick(now, wasAway) {
    if (wasAway) this.samples.forget();
    this.samples.add(now);
    if (wasAway && this.#isSeen) this.#load();
    if (wasAway) this.detail.load();
    this.draw(now);
  }

  draw(now = Date.now()) {
    if (document.hidden) return;
    if (this.#isSeen) {
      const samples = this.samples.last(shownSeconds, now);
      const map = projection(
        box,
        { start: now - 1000 * shownSeconds, end: now },
        scaleOf(this.bounds, samples),
      );
      this.#line.setAttribute('d', linePath(partsWithoutGap(samples, 1), map));
    }
    this.detail.draw(now);
  }
}

/** When the last samples were taken. */
let before = 0;
setInterval(() => {
  if (root.dataset.state !== 'connected') return;
  const now = Date.now();
  // Timers of hidden windows are slow, and the stream may have been lost.
  const wasAway = before > 0 && now - before > 3000;
  before = now;
  for (const row of rows.values()) row.control.sparkline?.tick(now, wasAway);
}, 1000);
