// Opens the editor of a curve, a spring or a shadow, and shows a small picture of it in its first row.

import { float, h, on } from '../dom.js';
import { Editing } from '../editing.js';
import { partsOf } from '../format.js';
import { duration, nanoseconds } from '../numbers/decimal.js';
import { rowOf } from '../row.js';
import { listen } from '../signals.js';
import { tweaks } from '../tweaks.js';
import { curveText, parseCurve, thumbnail, wayOf } from './curve.js';
import { curvePane } from './curve-pane.js';
import { shadowPane } from './shadow.js';
import { response, springPane } from './spring.js';

const curveParts = ['x1', 'y1', 'x2', 'y2'];

/** For each template that has an editor: its parts, its pane, what that shows and sets, and its picture. */
const editors = {
  curve: {
    pane: curvePane,
    bounds: [-1, 2],
    shows: ({ value }) => parseCurve(value),
    sets: (points) => ({ value: curveText(points) }),
    way: ({ value }) => wayOf(parseCurve(value)),
  },
  ease: {
    kinds: { x1: 'number', y1: 'number', x2: 'number', y2: 'number' },
    pane: curvePane,
    bounds: [-5, 5],
    shows: (values) => curveParts.map((part) => values[part]),
    sets: (points) => Object.fromEntries(points.map((number, index) => [curveParts[index], number])),
    way: (values) => wayOf(curveParts.map((part) => values[part])),
  },
  spring: {
    kinds: { 'response': 'duration', 'damping fraction': 'number' },
    pane: springPane,
    way: (values) =>
      'M' + Array.from({ length: 31 }, (_, index) =>
        `${index / 30} ${1 - response(values['damping fraction'], index / 15) * 0.8}`).join('L'),
  },
  shadow: {
    kinds: { color: 'color', x: 'number', y: 'number', radius: 'number', opacity: 'number' },
    pane: shadowPane,
    way: () => 'M0 0H.8V.8H0zM.2 1H1V.2',
  },
};

// Values ------------------------------------------------------------------------------------------------

/** A value as the panes calculate with it: durations are milliseconds. */
function numberOf({ kind }, value) {
  if (kind === 'duration') return Number(nanoseconds(value)) / 1e6;
  return ['number', 'int'].includes(kind) ? Number(value) : value;
}
const textOf = ({ kind }, value) =>
  kind === 'duration' ? duration(BigInt(Math.round(value * 1e6))) : String(value);

const isLimited = ({ kind, min, max }) => kind === 'color' || min != null && max != null;

/** The tweaks that an editor of a tweak changes, by part; null if the client does not have all. */
function partsOfEditor({ kind, template, path }) {
  if (kind === 'curve') return { value: tweaks.get(path) };
  const parts = {};
  for (const tweak of tweaks.values()) {
    if (tweak.template?.path === template.path) parts[tweak.template.part] = tweak;
  }
  // A template of the program may have the same name.
  const wanted = Object.entries(editors[template.name].kinds);
  return wanted.every(([part, kind]) => parts[part]?.kind === kind && isLimited(parts[part])) ? parts : null;
}

function editorOf({ kind, template }) {
  if (kind === 'curve') return editors.curve;
  const name = template?.name ?? '';
  return Object.hasOwn(editors, name) && editors[name].kinds ? editors[name] : null;
}

// The editor --------------------------------------------------------------------------------------------

const element = h('div', { id: 'motion', popover: 'auto', role: 'dialog', tabindex: '-1' });
/** The open editor. */
let open = null;

function openEditor(row, beside) {
  if (element.matches(':popover-open')) element.hidePopover();
  const editor = editorOf(row.tweak);
  const parts = partsOfEditor(row.tweak);
  if (!parts) return;
  const names = Object.keys(parts);
  const rows = names.map((name) => rowOf(parts[name].path));
  const editing = new Editing(rows);
  const rowsByName = new Map(names.map((name, index) => [name, rows[index]]));
  const limits = Object.fromEntries(names.map((name) =>
    [name, ['min', 'max'].map((end) => numberOf(parts[name], parts[name][end]))]));
  const pane = editor.pane({
    limits,
    bounds: editor.bounds,
    set(shown) {
      const values = Object.entries(editor.sets?.(shown) ?? shown);
      editing.move(values.map(([name, value]) => [rowsByName.get(name), textOf(parts[name], value)]));
      show();
    },
    /** Returns whether there was a drag. */
    end() {
      const isDone = rows.some((one) => one.drag) && !editing.isCanceled;
      editing.end();
      show();
      return isDone;
    },
  });
  const show = () => {
    const values = Object.fromEntries(names.map((name) =>
      [name, numberOf(parts[name], rowsByName.get(name).wanted)]));
    pane.show(editor.shows?.(values) ?? values);
  };
  open = { editing, rows, show };
  element.setAttribute('aria-label', titleOf(row.tweak));
  element.replaceChildren(h('h4', titleOf(row.tweak)), pane.element);
  beside.after(element);
  show();
  element.showPopover();
  float(element, beside);
  pane.first.focus();
  pane.run();
}

const titleOf = ({ kind, template, path }) => partsOf(kind === 'curve' ? path : template.path).at(-1);

on(element, 'keydown', (event) => {
  if (event.defaultPrevented || !open) return;
  if (event.key === 'Escape') open.editing.restore();
  else if (event.key === 'Enter' && !event.target.closest('.curves')) {
    event.preventDefault();
    element.hidePopover();
  }
});
on(element, 'beforetoggle', (event) => {
  if (event.newState !== 'closed' || !open) return;
  open.editing.close();
  open = null;
});

// Rows --------------------------------------------------------------------------------------------------

/** What draws the picture of a group, by its path. */
const pictures = new Map();

/** Shows a picture in the first row of a group, which opens the editor. */
function addPicture(row) {
  const { tweak } = row;
  const parts = tweak.template && editorOf(tweak) && partsOfEditor(tweak);
  if (!parts || row.reason) return;
  const all = Object.values(parts);
  if (tweak !== [...tweaks.values()].find((one) => all.includes(one))) return;
  const label = `Edit ${titleOf(tweak)}`;
  const button = h('button.picture', {
    part: 'edit',
    label,
    title: label,
    tabindex: -1,
    'aria-haspopup': 'dialog',
    onclick: () => openEditor(row, button),
  });
  row.element.querySelector('.name > a').after(button);
  const draw = () => {
    const parts = partsOfEditor(tweak);
    if (!parts) return pictures.delete(tweak.template.path);
    const values = Object.entries(parts).map(([name, part]) => [name, numberOf(part, part.value)]);
    button.replaceChildren(thumbnail(editorOf(tweak).way(Object.fromEntries(values))));
  };
  pictures.set(tweak.template.path, draw);
  draw();
}

listen('made', addPicture);
listen('edit', openEditor);
listen('drawn', (row) => {
  pictures.get(row.tweak.template?.path)?.();
  if (open?.rows.includes(row) && !open.rows.some((one) => one.drag)) open.show();
});

