// Shows a figure over minutes below its row, with axes, a crosshair, and the own changes as ticks.

import { clean, h, on, svg } from '../dom.js';
import { when } from '../format.js';
import { bandPath, linePath, partsWithoutGap, projection, scaleOf } from './chart.js';
import { ownChanges } from './own-changes.js';
import { periodOf, textOf } from './samples.js';

const height = 140;
/** The choices of time, in seconds, with the seconds between the labels of the axis. */
const times = [{ label: '1 min', seconds: 60, step: 15 }, { label: '5 min', seconds: 300, step: 60 }, {
  label: '30 min',
  seconds: 1800,
  step: 300,
}];
/** The choice, which all charts share. */
let chosen = times[1];

export class Detail {
  #element = null;
  /** The time of the crosshair; null without one. */
  #at = null;
  #samples = [];
  constructor(row, sparkline) {
    Object.assign(this, { row, sparkline });
  }

  get isOpen() {
    return this.#element != null;
  }

  toggle() {
    if (this.isOpen) this.#close();
    else this.#open();
    this.sparkline.element.setAttribute('aria-expanded', this.isOpen);
  }

  #close() {
    this.#resizing.disconnect();
    this.#element.remove();
    this.#element = null;
    this.#at = null;
  }

  #open() {
    const { label } = this.row;
    this.buttons = times.map((time) =>
      h(
        'button.button.plain',
        { part: `time-${time.seconds}`, onclick: () => this.#choose(time) },
        time.label,
      )
    );
    this.readout = h('output', { part: 'readout', 'aria-live': 'off' });
    this.picture = svg('svg', { height, 'aria-hidden': 'true' });
    this.plot = h('div.plot', { part: 'plot', role: 'slider', tabindex: '0', label: `Values: ${label}` });
    this.plot.append(this.picture);
    this.#element = h(
      'div.chart',
      { part: 'chart', role: 'group', label: `Chart: ${label}` },
      h('div.line', h('div.spans', { role: 'group', label: 'Time shown' }, ...this.buttons), this.readout),
      this.plot,
    );
    on(this.plot, 'pointermove', (event) => this.#point(event.offsetX));
    on(this.plot, 'pointerdown', (event) => this.#point(event.offsetX));
    on(this.plot, 'pointerleave', () => this.#aim(null));
    on(this.plot, 'keydown', (event) => this.#pressed(event));
    on(this.plot, 'blur', () => this.#aim(null));
    this.row.element.append(this.#element);
    this.#resizing.observe(this.plot);
    this.#choose(chosen);
  }

  #resizing = new ResizeObserver(() => this.draw());

  #choose(time) {
    chosen = time;
    this.#at = null;
    this.load();
    this.draw();
  }

  async load() {
    if (this.isOpen && await this.sparkline.samples.load(chosen.seconds)) this.draw();
  }

  // The crosshair -----------------------------------------------------------------------------------------

  #point(x) {
    const share = (x - this.#box.left) / (this.#box.right - this.#box.left);
    this.#aim(this.#times.start + share * 1000 * chosen.seconds);
  }

  #aim(time) {
    this.#at = time;
    if (this.isOpen) this.draw();
  }

  #pressed(event) {
    const last = this.#samples.length - 1;
    const index = this.#index < 0 ? last : this.#index;
    const next = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: last }[event.key];
    if (event.key === 'Escape') {
      this.toggle();
      this.sparkline.element.focus();
    } else if (next == null || event.altKey || event.ctrlKey || event.metaKey) return;
    else this.#aim(this.#samples[Math.min(last, Math.max(0, next))].time);
    event.preventDefault();
  }

  /** The position of the sample under the crosshair, the nearest one; -1 without a crosshair. */
  get #index() {
    if (this.#at == null) return -1;
    const distances = this.#samples.map(({ time }) => Math.abs(time - this.#at));
    return distances.indexOf(Math.min(...distances));
  }

  // Drawing -----------------------------------------------------------------------------------------------

  get #box() {
    return { left: 56, top: 8, right: Math.max(120, this.plot.clientWidth - 8), bottom: height - 20 };
  }
  #times = { start: 0, end: 0 };

  draw(now = Date.now()) {
    if (!this.isOpen) return;
    for (const [index, time] of times.entries()) this.buttons[index].ariaPressed = time === chosen;
    this.#samples = this.sparkline.samples.last(chosen.seconds, now);
    this.#times = { start: now - 1000 * chosen.seconds, end: now };
    const scale = scaleOf(this.sparkline.bounds, this.#samples);
    const map = projection(this.#box, this.#times, scale);
    const changes = ownChanges(this.#times.start);
    const parts = partsWithoutGap(this.#samples, periodOf(chosen.seconds));
    this.picture.setAttribute('width', this.#box.right + 8);
    this.picture.replaceChildren(
      ...this.#axes(scale, map),
      svg('path', { class: 'band', d: bandPath(parts, map) }),
      svg('path', { class: 'curve', d: linePath(parts, map) }),
      ...changes.map((change) => this.#tick(change, map)),
      ...this.#crosshair(map),
    );
    this.#describe(changes);
  }

  #axes(scale, map) {
    const { left, right, bottom } = this.#box;
    const { tweak } = this.row;
    const lines = [scale.high, (scale.high + scale.low) / 2, scale.low].flatMap((value) => [
      svg('path', { class: 'grid', d: `M${left} ${map.y(value)}H${right}` }),
      label(textOf(tweak, value), left - 6, map.y(value) + 4, 'end'),
    ]);
    for (let age = 0; age <= chosen.seconds; age += chosen.step) {
      const x = map.x(this.#times.end - 1000 * age);
      const text = age === 0 ? 'now' : age < 60 ? `−${age} s` : `−${age / 60} min`;
      const anchor = age === 0 ? 'end' : age === chosen.seconds ? 'start' : 'middle';
      lines.push(label(text, x, bottom + 15, anchor));
    }
    return lines;
  }

  /** A change by this window; the readout has its text. */
  #tick({ time, text }, map) {
    const { top, bottom } = this.#box;
    const x = map.x(time).toFixed(1);
    const group = svg('g', { class: 'own', 'data-part': 'own' });
    const title = svg('title', {});
    title.textContent = clean(text);
    group.append(
      svg('path', { d: `M${x} ${top}V${bottom}` }),
      svg('path', { class: 'flag', d: `M${x} ${top}l-5 -7h10Z` }),
      title,
    );
    return group;
  }

  #crosshair(map) {
    const sample = this.#samples[this.#index];
    if (!sample) return [];
    const [x, y] = [map.x(sample.time), map.y(sample.value)];
    return [
      svg('path', { class: 'cross', d: `M${x} ${this.#box.top}V${this.#box.bottom}` }),
      svg('circle', { class: 'point', cx: x, cy: y, r: 3.5 }),
    ];
  }

  /** Writes the value under the crosshair, with the changes near it; otherwise the newest. */
  #describe(changes) {
    const { tweak } = this.row;
    const index = this.#index < 0 ? this.#samples.length - 1 : this.#index;
    const { time, value, min, max } = this.#samples[index];
    const text = (number) => textOf(tweak, number, 6);
    const extremes = min < max ? ` (${text(min)}…${text(max)})` : '';
    const unit = tweak.unit ? ` ${tweak.unit}` : '';
    const near = changes.filter((change) => Math.abs(change.time - time) <= 10 * chosen.seconds);
    const shown = [when(time), text(value) + extremes + unit, ...near.map(({ text }) => text)].join(' · ');
    this.readout.textContent = clean(this.#index < 0 ? '' : shown);
    const { plot } = this;
    Object.assign(plot, { ariaValueMin: 0, ariaValueMax: this.#samples.length - 1, ariaValueNow: index });
    plot.ariaValueText = clean(shown);
  }
}

function label(text, x, y, anchor) {
  const element = svg('text', { x, y, 'text-anchor': anchor });
  element.textContent = text;
  return element;
}
