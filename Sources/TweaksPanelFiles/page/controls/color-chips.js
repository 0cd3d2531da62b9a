// Offers colors in the picker: recent ones, those of the program's tweaks, and those of a preset.

import { clean, h, on, setStyle } from '../dom.js';
import { nameOf } from '../format.js';
import { request } from '../requests.js';
import { store, stored } from '../storage.js';
import { tweaks } from '../tweaks.js';
import { colorsOf } from './color-contrast.js';

/** The most colors of a group. */
const most = 24;

/** `choose(value)` is called with the color of a chip. */
export function colorChips({ choose }) {
  const recent = h('div', { class: 'colors recent', role: 'group', label: 'Recent' });
  const program = h('div.colors', { role: 'group', label: 'In this program' });
  const palette = h('div.colors', { role: 'group', label: 'Palette' });
  const select = h('select', { part: 'palette', label: 'Palette', onchange: () => choosePalette() });
  const box = h('div.box', select);
  const heads = new Map([recent, program].map((group) => [group, h('h4', group.ariaLabel)]));
  let row = null;

  const chip = ([value, title]) => {
    const element = h('button', { label: title, title, onclick: () => choose(value) });
    setStyle(element, '--color', value);
    return element;
  };
  const fill = (group, colors) => {
    group.replaceChildren(...[...colors].slice(0, most).map(chip));
    for (const [index, one] of [...group.children].entries()) one.tabIndex = index ? -1 : 0;
    const head = heads.get(group);
    if (head) head.hidden = !colors.size;
  };
  for (const group of [recent, program, palette]) on(group, 'keydown', (event) => stepThrough(group, event));

  function open(next) {
    row = next;
    fill(recent, new Map(stored('recent', []).map((value) => [value, value])));
    fill(program, named(colorsOf(row).map(({ path, value }) => [path, value])));
    fill(palette, new Map());
    box.hidden = true;
    offerPalettes(row);
  }

  async function offerPalettes(asked) {
    let presets = [];
    try {
      ({ presets } = await request('GET', '/api/presets'));
    } catch { /* without presets there are no palettes */ }
    if (row !== asked || !presets.length) return;
    const known = stored('palette', '');
    select.replaceChildren(
      h('option', { value: '' }, 'Colors of a preset …'),
      ...presets.map(({ name }) => h('option', { value: name, selected: name === known }, name)),
    );
    box.hidden = false;
    if (select.value) await choosePalette();
  }

  async function choosePalette() {
    const asked = select.value;
    store('palette', asked);
    let colors = new Map();
    try {
      if (asked) colors = await colorsOfPreset(asked);
    } catch { /* a preset that was deleted has none */ }
    if (select.value === asked) fill(palette, colors);
  }

  return {
    element: h('div.palettes', heads.get(recent), recent, heads.get(program), program, box, palette),
    open,
  };
}

/** Colors, each with the names of its tweaks. */
function named(pairs) {
  const colors = new Map();
  for (const [path, value] of pairs) {
    const names = colors.get(value);
    colors.set(value, names ? `${names}, ${nameOf(path)}` : `${value} ${nameOf(path)}`);
  }
  return colors;
}

/** A comparison tells what a preset changes; the other colors are as they are. */
async function colorsOfPreset(name) {
  const { differences } = await request('GET', `/api/presets/${encodeURIComponent(name)}/diff`);
  const changed = differences.filter(({ path, right }) =>
    right != null && tweaks.get(path)?.kind === 'color'
  );
  return named(changed.map(({ path, right }) => [path, clean(right)]));
}

/** Arrow keys lead through the chips of a group, which is one stop of Tab. */
function stepThrough(group, event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const next = step && [...group.children][[...group.children].indexOf(event.target) + step];
  if (!next) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
