// Shows the color picker: an area, hue, opacity, fields and chips, for one row at a time.
//
// All changes while it is open are one undo entry, and Escape restores the color from before.

import { float, h, icon, on, setStyle } from '../dom.js';
import { Editing } from '../editing.js';
import { clamp } from '../numbers/decimal.js';
import { store, stored } from '../storage.js';
import { colorChips } from './color-chips.js';
import { colorContrast } from './color-contrast.js';
import { colorFields } from './color-fields.js';
import { bytes, hexOf, hsv, rgb } from './color-math.js';

const checks = 'conic-gradient(#bbb 25%, #fff 0 50%, #bbb 0 75%, #fff 0) 0 0 / 10px 10px';
const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export const picker = {
  row: null,
  /** Hue, saturation and brightness, which tell more than the color where that is gray or black. */
  now: [0, 0, 0],
  alpha: 255,
  /** The changes, from which Escape comes back. */
  editing: null,
  /** Whether the process reads a typed text. */
  isAwaited: false,

  make() {
    const actions = {
      move: (color) => this.move(() => this.take(color)),
      end: () => this.end(),
      cancel: () => this.row?.cancel(),
      choose: (value, text) => this.choose(value, text),
      redraw: () => this.draw(),
    };
    this.fields = colorFields(actions);
    this.contrast = colorContrast(actions);
    this.chips = colorChips(actions);
    this.makeArea();
    this.hue = this.slider('hue', 359, 'Hue', (value) => this.now[0] = value);
    this.opacity = this.slider('alpha', 255, 'Opacity', (value) => this.alpha = value);
    setStyle(this.hue, '--ramp', 'linear-gradient(to right, red, #ff0, #0f0, #0ff, #00f, #f0f, red)');
    this.old = h('button', { part: 'old', onclick: () => this.choose(this.editing.before[0].value) });
    this.fresh = h('i');
    this.error = h('p.error', { hidden: true });
    const sliders = h('div.sliders', this.dropper(), this.hue, this.opacity, this.old, this.fresh);
    this.element = h(
      'div',
      { id: 'picker', popover: 'auto', role: 'dialog', label: 'Color', tabindex: '-1' },
      this.area,
      sliders,
      this.fields.element,
      this.error,
      this.contrast.element,
      this.chips.element,
    );
    on(this.element, 'keydown', (event) => this.pressed(event));
    // Palettes come later, and move its end.
    new ResizeObserver(() => this.row && float(this.element, this.swatch)).observe(this.element);
    // Before it closes, since another row may open it next. The reply to the change may be pending.
    on(this.element, 'beforetoggle', (event) => {
      if (event.newState === 'closed' && this.row) this.left();
    });
  },

  // Parts -------------------------------------------------------------------------------------------------

  slider(part, max, label, put) {
    const slider = h('input', { type: 'range', part, min: 0, max, step: 1, label });
    on(slider, 'input', () => this.move(() => put(Number(slider.value))));
    on(slider, 'change', () => this.end());
    return slider;
  },

  makeArea() {
    this.knob = h('i');
    this.area = h('div.area', {
      tabindex: '0',
      role: 'slider',
      part: 'area',
      label: 'Saturation and brightness',
      'aria-valuenow': 0,
    }, this.contrast.lines, this.knob);
    const put = (full, light) =>
      this.move(() => this.now.splice(1, 2, clamp(full, 0, 1), clamp(light, 0, 1)));
    const at = (event) => {
      const { left, top, width, height } = this.area.getBoundingClientRect();
      put((event.clientX - left) / width, 1 - (event.clientY - top) / height);
    };
    on(this.area, 'pointerdown', (event) => {
      this.area.setPointerCapture(event.pointerId);
      at(event);
    });
    on(this.area, 'pointermove', (event) => {
      if (this.area.hasPointerCapture(event.pointerId)) at(event);
    });
    for (const name of ['pointerup', 'pointercancel', 'keyup', 'blur']) on(this.area, name, () => this.end());
    on(this.area, 'keydown', (event) => {
      if (!(event.key in steps)) return;
      event.preventDefault();
      const [x, y] = steps[event.key];
      const size = event.shiftKey ? 0.1 : 0.01;
      put(this.now[1] + x * size, this.now[2] + y * size);
    });
  },

  /** The browser's eyedropper, where it has one. */
  dropper() {
    if (!window.EyeDropper) return null;
    const pick = async () => {
      const { row } = this;
      try {
        const { sRGBHex } = await new EyeDropper().open();
        if (row && row === this.row) this.choose(hexOf([...bytes(sRGBHex).slice(0, 3), this.alpha]));
      } catch { /* canceled */ }
    };
    const title = 'Pick a color of the screen';
    return h('button.button.plain', { part: 'dropper', title, label: title, onclick: pick }, icon('dropper'));
  },

  pressed(event) {
    if (event.defaultPrevented) return;
    if (event.key === 'Escape') this.editing.restore();
    else if (event.key === 'Enter' && !event.target.matches('button, select')) {
      event.preventDefault();
      this.element.hidePopover();
    }
  },

  // Opening -----------------------------------------------------------------------------------------------

  open(row, swatch) {
    if (this.element.matches(':popover-open')) this.element.hidePopover();
    swatch.after(this.element);
    Object.assign(this, { row, swatch, editing: new Editing([row]) });
    this.refused(row, '');
    this.showOld();
    this.contrast.open(row);
    this.chips.open(row);
    this.setColor(row.tweak.value);
    this.element.showPopover();
    float(this.element, swatch);
    this.area.focus();
  },

  showOld() {
    const [{ value }] = this.editing.before;
    this.isAwaited = false;
    this.old.ariaLabel = this.old.title = 'Back to ' + value;
    setStyle(this.old, '--color', value);
  },

  left() {
    this.editing.close();
    if (this.editing.isUsed) this.remember(this.value);
    this.row = null;
  },

  remember(value) {
    store('recent', [value, ...stored('recent', []).filter((other) => other !== value)].slice(0, 12));
  },

  // Changing ----------------------------------------------------------------------------------------------

  get color() {
    return [...rgb(this.now), this.alpha];
  },
  get value() {
    return hexOf(this.color);
  },

  setColor(value) {
    if (value !== this.value) this.take(bytes(value));
    this.draw();
  },

  /** Takes a color, and keeps the hue where that has none. */
  take([red, green, blue, alpha]) {
    const now = hsv([red, green, blue]);
    if (now[1] < 1e-4) now[0] = this.now[0];
    Object.assign(this, { now, alpha });
  },

  /** Shows a value of the process, which another client or an undo may have set. */
  follow(row, value) {
    if (this.row !== row) return;
    if (value === this.value) {
      this.isAwaited = false;
      return this.fields.show(this.color);
    }
    if (!row.drag && !this.isAwaited) {
      this.editing.begin();
      this.showOld();
    }
    this.isAwaited = false;
    this.setColor(value);
  },

  /** Shows why a typed text was refused; the row is covered. */
  refused(row, text) {
    if (this.row !== row) return;
    this.error.hidden = !text;
    this.error.textContent = text;
    if (!text) return;
    this.isAwaited = false;
    this.fields.refuse();
  },

  move(action) {
    if (!this.row || this.editing.isCanceled) return;
    action();
    this.editing.move([[this.row, this.value]]);
    this.draw();
  },

  /** Sets a value, or what the process reads in a typed text. */
  choose(value, text) {
    if (!this.row) return;
    this.editing.note(this.row);
    if (text == null) this.setColor(value);
    else this.isAwaited = true;
    this.row.send({ value }, { drag: this.editing.id, text });
  },

  end() {
    if (!this.row?.drag) return;
    const { isCanceled } = this.editing;
    this.editing.end();
    if (isCanceled) this.setColor(this.row.tweak.value);
  },

  draw() {
    const [hue, full, light] = this.now;
    const solid = hexOf(rgb(this.now));
    const percent = (part) => Math.round(part * 100) + '%';
    setStyle(this.area, '--hue', hue);
    setStyle(this.knob, '--x', full);
    setStyle(this.knob, '--y', 1 - light);
    setStyle(this.fresh, '--color', this.value);
    this.area.setAttribute('aria-valuetext', `saturation ${percent(full)}, brightness ${percent(light)}`);
    this.hue.value = hue;
    this.opacity.value = this.alpha;
    this.opacity.setAttribute('aria-valuetext', percent(this.alpha / 255));
    setStyle(this.opacity, '--ramp', `linear-gradient(to right, ${solid}00, ${solid}), ${checks}`);
    this.fields.show(this.color);
    this.contrast.show(this.now, this.alpha);
  },
};

picker.make();
