// Creates the fields of the color picker: one row that shows a color as HEX, RGB, HSL or OKLCH.

import { h, on } from '../dom.js';
import { store, stored } from '../storage.js';
import { fromHSL, fromOKLCH, hexOf, hsl, oklch } from './color-math.js';
import { clamp } from '../numbers/decimal.js';
import { scrub } from './scrub.js';

/** The parts of a color by format: their names, highest values and steps, and the conversions. */
const formats = {
  HEX: {
    parts: [],
    of: () => [],
  },
  RGB: {
    parts: [['Red', 255, 1], ['Green', 255, 1], ['Blue', 255, 1]],
    of: (color) => color,
    to: (parts) => parts,
  },
  HSL: {
    parts: [['Hue', 360, 1], ['Saturation', 100, 1], ['Lightness', 100, 1]],
    of: (color) => ((parts) => [parts[0], parts[1] * 100, parts[2] * 100])(hsl(color)),
    to: ([hue, full, middle]) => fromHSL([hue, full / 100, middle / 100]),
  },
  OKLCH: {
    parts: [['Lightness', 100, 0.5], ['Chroma', 0.4, 0.005], ['Hue', 360, 1]],
    of: (color) => ((parts) => [parts[0] * 100, parts[1], parts[2]])(oklch(color)),
    to: ([light, chroma, hue]) => fromOKLCH([light / 100, chroma, hue]),
  },
};

/** `actions` are `move(color)`, `end()`, `cancel()` and `choose(value, text)` of the picker. */
export function colorFields({ move, end, cancel, choose }) {
  const known = stored('format', 'HEX');
  let format = Object.hasOwn(formats, known) ? known : 'HEX';
  let color = [0, 0, 0, 255];
  /** The parts of the color and its opacity in percent, which tell more than the color has channels for. */
  let parts = [];
  const colorOf = (parts) => [
    ...(formats[format].to?.(parts.slice(0, -1)) ?? color.slice(0, 3)),
    parts.at(-1) / 100 * 255,
  ];
  const partsOf = () => [...formats[format].of(color.slice(0, 3)), color[3] / 255 * 100];

  const put = (index, value, most) => {
    parts = parts.with(index, clamp(value, 0, most));
    move(colorOf(parts));
  };
  const numberField = ([label, most, step], index) => {
    const input = textField(label, 'decimal');
    const by = (count, power) => put(index, parts[index] + count * step * 10 ** power, most);
    input.step = step;
    input.commit = () => {
      const value = Number(input.value.replace(/[%°]$/, '') || NaN);
      if (isNaN(value)) return draw();
      put(index, value, most);
      end();
    };
    on(input, 'keydown', (event) => {
      const count = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
      if (!count) return;
      event.preventDefault();
      if (input.isEdited()) input.commit();
      by(count, event.shiftKey ? 1 : event.altKey ? -1 : 0);
    });
    on(input, 'keyup', () => end());
    scrub(input, { begin() {}, move: by, end, cancel });
    return input;
  };

  const text = textField('Hex');
  text.commit = () => choose(text.value.trim(), text.value.trim());
  const place = h('div.parts');
  const select = h(
    'select',
    { part: 'format', label: 'Format', onchange: () => setFormat(select.value) },
    ...Object.keys(formats).map((name) => h('option', { selected: name === format }, name)),
  );
  let inputs = [];

  function setFormat(name) {
    format = name;
    store('format', name);
    const { parts } = formats[format];
    inputs = [...parts, ['Opacity in percent', 100, 1]].map(numberField);
    place.replaceChildren(...(parts.length ? [] : [boxed(text, 'hex')]), ...inputs.map((one) => boxed(one)));
    show(color, true);
  }

  function show(next, isFresh = false) {
    color = next;
    if (isFresh || hexOf(colorOf(parts)) !== hexOf(color)) parts = partsOf();
    draw();
  }

  function draw() {
    const hex = hexOf(color);
    text.put(color[3] >= 255 ? hex.slice(0, 7) : hex);
    for (const [index, input] of inputs.entries()) {
      input.put(String(Number(parts[index].toFixed(input.step < 0.1 ? 3 : input.step < 1 ? 1 : 0))));
    }
  }

  setFormat(format);
  return { element: h('div.formats', h('div.box', select), place), show, refuse: () => text.refuse() };
}

const boxed = (input, kind = '') => h('div', { class: 'box ' + kind }, input);

/** A field that calls its `commit` on Enter or when it is left, and keeps typed text until then. */
function textField(label, mode) {
  const input = h('input', {
    type: 'text',
    label,
    title: label,
    part: label.toLowerCase().split(' ')[0] + '-field',
    inputmode: mode,
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: 80,
  });
  input.isEdited = () => input.value !== input.shown;
  input.put = (text) => {
    // What is typed stays; what was sent is shown as it is read.
    if (document.activeElement === input && input.isEdited() && !input.isSent) return;
    input.isSent = false;
    input.value = input.shown = text;
  };
  const commit = () => {
    if (!input.isEdited()) return;
    input.isSent = true;
    input.commit();
  };
  /** Marks the sent text as refused: it is edited again, and sent again only by Enter. */
  input.refuse = () => {
    if (input.isSent) input.failed = input.value;
    input.isSent = false;
  };
  on(input, 'input', () => {
    input.isSent = false;
    input.failed = null;
  });
  on(input, 'blur', () => input.isSent || input.value === input.failed || commit());
  on(input, 'keydown', (event) => {
    if (!input.isEdited() || input.isSent) return;
    if (event.key === 'Enter') commit();
    else if (event.key === 'Escape') input.value = input.shown;
    else return;
    event.preventDefault();
  });
  return input;
}
