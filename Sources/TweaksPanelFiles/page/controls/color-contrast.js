// Compares the color of the picker with another one: a ratio, and lines in the area where it is 4.5.

import { h, svg } from '../dom.js';
import { nameOf } from '../format.js';
import { store, stored } from '../storage.js';
import { has, tweaks } from '../tweaks.js';
import { bytes, contrast, luminance, over, rgb } from './color-math.js';

/** What texts need (WCAG 2.2, 1.4.3). */
const least = 4.5;
const columns = 32;
const white = [255, 255, 255];

export const colorsOf = (row) =>
  [...tweaks.values()].filter((tweak) =>
    tweak !== row.tweak && tweak.kind === 'color' && !has(tweak, 'secret')
  );

/** `redraw()` is called when another color is chosen. */
export function colorContrast({ redraw }) {
  const lines = svg('svg', { viewBox: '0 0 1 1', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  const output = h('output');
  const select = h('select', {
    part: 'contrast',
    label: 'Contrast with',
    onchange: () => {
      store('contrast', select.value);
      redraw();
    },
  });
  const element = h('div.contrast', h('div.box', select), output);

  function open(row) {
    const others = colorsOf(row);
    const known = stored('contrast', '');
    element.hidden = !others.length;
    select.replaceChildren(
      h('option', { value: '' }, 'Contrast with …'),
      ...others.map(({ path }) => h('option', { value: path, selected: path === known }, nameOf(path))),
    );
  }

  function show([hue, full, light], alpha) {
    lines.replaceChildren();
    const other = tweaks.get(select.value);
    output.hidden = !other;
    if (!other) return;
    const below = over(bytes(other.value), white);
    const of = (full, light) => luminance(over([...rgb([hue, full, light]), alpha], below));
    const base = luminance(below);
    const ratio = contrast(of(full, light), base);
    const shown = Math.floor(ratio * 100) / 100;
    output.textContent = `${shown.toFixed(2)} ${ratio < least ? 'low' : '✓'}`;
    output.title = ratio < least ? `texts need ${least}` : 'enough for texts';
    for (const edge of [(base + 0.05) * least - 0.05, (base + 0.05) / least - 0.05]) {
      draw((full) => brightness((light) => of(full, light), edge));
    }
  }

  function draw(brightnessAt) {
    const points = [];
    for (let column = 0; column <= columns; column++) {
      const light = brightnessAt(column / columns);
      if (light != null) points.push(`${column / columns},${1 - light}`);
    }
    for (const kind of ['halo', 'line']) {
      lines.append(svg('polyline', { class: kind, points: points.join(' ') }));
    }
  }

  return { element, lines, open, show };
}

/** The brightness at which a rising luminance reaches an edge; null if it does not. */
function brightness(luminanceAt, edge) {
  if (luminanceAt(0) > edge || luminanceAt(1) < edge) return null;
  let [low, high] = [0, 1];
  for (let round = 0; round < 10; round++) {
    const middle = (low + high) / 2;
    if (luminanceAt(middle) < edge) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
