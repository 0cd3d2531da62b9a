// Shows the color picker: an area, hue, opacity and recent colors, for one row at a time.

import { float, h, on, setStyle } from '../dom.js';
import { store, stored } from '../storage.js';
import { bytes, hexOf, hsv, rgb } from './color-math.js';

export const picker = {
  row: null,
  now: [0, 0, 0],
  alpha: 255,
  isOwn: false,
  make() {
    const range = (part, max, label) =>
      h('input', { type: 'range', part: part, min: 0, max, step: 1, label: label });
    this.hue = range('hue', 359, 'Hue');
    this.opacity = range('alpha', 255, 'Opacity');
    this.knob = h('i');
    this.area = h('div.area', {
      tabindex: '0',
      role: 'slider',
      part: 'area',
      label: 'Saturation and brightness',
      'aria-valuenow': 0,
    }, this.knob);
    this.recent = h('div.recent', { role: 'group', label: 'Recent colors' });
    this.element = h(
      'div',
      { id: 'picker', popover: 'auto', role: 'dialog', label: 'Color' },
      this.area,
      this.hue,
      this.opacity,
      this.recent,
    );
    on(this.hue, 'input', () =>
      this.move(() => {
        this.now[0] = Number(this.hue.value);
      }));
    on(this.opacity, 'input', () =>
      this.move(() => {
        this.alpha = Number(this.opacity.value);
      }));
    for (const slider of [this.hue, this.opacity]) on(slider, 'change', () => this.end());
    // In the capture phase, before a key changes the value.
    on(this.element, 'keydown', () => this.row?.continueRun(), true);
    const at = (event) => {
      const { left, top, width, height } = this.area.getBoundingClientRect();
      const part = (value) => Math.min(1, Math.max(0, value));
      this.move(() => {
        this.now[1] = part((event.clientX - left) / width);
        this.now[2] = 1 - part((event.clientY - top) / height);
      });
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
      const [x, y] =
        { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [];
      const size = event.shiftKey ? 0.1 : 0.01;
      if (x == null) return;
      event.preventDefault();
      this.move(() => {
        this.now[1] = Math.min(1, Math.max(0, this.now[1] + x * size));
        this.now[2] = Math.min(1, Math.max(0, this.now[2] + y * size));
      });
    });
    // Before it closes, since another row may open it next. The reply to the change may be pending.
    on(this.element, 'beforetoggle', (event) => {
      if (event.newState !== 'closed' || !this.row) return;
      this.end();
      if (this.isUsed) this.remember(this.row.wanted);
      this.row = null;
    });
  },
  open(row, swatch) {
    if (this.element.matches(':popover-open')) this.element.hidePopover();
    swatch.after(this.element);
    this.row = row;
    this.isUsed = false;
    this.setColor(row.tweak.value);
    this.recent.replaceChildren(
      ...stored('recent', []).map((value) => {
        const chip = h('button', {
          label: value,
          title: value,
          onclick: () => {
            this.isUsed = true;
            row.send({ value });
            this.setColor(value);
          },
        });
        setStyle(chip, '--color', value);
        return chip;
      }),
    );
    this.element.showPopover();
    float(this.element, swatch);
    this.area.focus();
  },
  setColor(value) {
    const numbers = bytes(value);
    const now = hsv(numbers);
    if (!now[1]) now[0] = this.now[0];
    this.now = now;
    this.alpha = numbers[3];
    this.draw();
  },
  follow(row, value) {
    if (this.row === row && !this.isOwn && !row.drag) this.setColor(value);
  },
  get value() {
    return hexOf([...rgb(this.now), this.alpha]);
  },
  move(action) {
    if (!this.row || this.row.drag?.isCanceled) return;
    action();
    this.isOwn = this.isUsed = true;
    this.row.move(this.value);
    this.isOwn = false;
    this.draw();
  },
  end() {
    if (this.row?.drag) {
      const { isCanceled } = this.row.drag;
      this.row.end();
      if (isCanceled) this.setColor(this.row.tweak.value);
    }
  },
  draw() {
    const [hue, full, light] = this.now;
    const solid = hexOf(rgb(this.now));
    setStyle(this.area, '--hue', hue);
    setStyle(this.knob, '--x', full);
    setStyle(this.knob, '--y', 1 - light);
    this.area.setAttribute(
      'aria-valuetext',
      `saturation ${Math.round(full * 100)}%, brightness ${Math.round(light * 100)}%`,
    );
    this.hue.value = hue;
    this.opacity.value = this.alpha;
    this.opacity.setAttribute('aria-valuetext', Math.round(this.alpha / 2.55) + '%');
    setStyle(this.hue, '--ramp', 'linear-gradient(to right, red, #ff0, #0f0, #0ff, #00f, #f0f, red)');
    setStyle(
      this.opacity,
      '--ramp',
      `linear-gradient(to right, ${solid}00, ${solid}), ` +
        'conic-gradient(#bbb 25%, #fff 0 50%, #bbb 0 75%, #fff 0) 0 0 / 10px 10px',
    );
  },
  remember(value) {
    store('recent', [value, ...stored('recent', []).filter((other) => other !== value)].slice(0, 12));
  },
};

picker.make();
