// Draws the notes below a control: the parsed value, the default, and the origin of the value.

import { otherValue } from './compare/hold.js';
import { clean } from './dom.js';
import { brief, nameOfLayer, shown } from './format.js';
import { longText } from './motion/curve.js';
import { measure } from './numbers/decimal.js';
import { has } from './tweaks.js';

export function drawNotes(row) {
  const { tweak, ghost } = row;
  const isSecret = has(tweak, 'secret');
  note(row, 'meaning', row.meaning);
  note(row, 'origin', row.flashed ? 'by ' + clean(row.flashed) : origin(tweak)).className =
    'badge ' + (row.flashed ? 'new' : 'known');
  const was = tweak.modified && !isSecret ? brief(tweak.default) : '';
  note(row, 'default', was && 'default ' + was + unitOf(tweak));
  showInBox(row, was);
  const other = isSecret ? 'changed' : brief(ghost?.value);
  const shownValue = otherValue(tweak);
  const isCompared = shownValue !== undefined;
  note(row, 'preview', isCompared ? `shows ${plain(tweak.kind, shownValue)}${unitOf(tweak)}` : '');
  row.element.toggleAttribute('data-compared', isCompared);
  note(row, 'ghost', ghost ? `${clean(ghost.by ?? 'unknown')}: ${other}` : '');
}

/** Shows the default in the box of a number, where both fit. */
function showInBox({ control, tweak }, was) {
  if (!['int', 'number', 'duration'].includes(tweak.kind)) return;
  const box = control.element.querySelector('.number');
  const length = was.length + brief(tweak.value).length + (tweak.unit ?? '').length;
  box?.toggleAttribute('data-was', was !== '' && length < 10);
  if (box?.hasAttribute('data-was')) box.dataset.was = was;
}

function note(row, name, text) {
  const part = row.element.querySelector(`[data-part=${name}]`);
  part.hidden = !text;
  if (text && part.textContent !== text) part.textContent = text;
  return part;
}

/** The layer, and its origin. */
function origin({ layer, by }) {
  if (!layer || layer === 'default') return '';
  const name = nameOfLayer(layer);
  if (!by) return name;
  return name + (by.startsWith(layer) ? clean(by.slice(layer.length)) : ' by ' + clean(by));
}

const plain = (kind, value) => kind === 'color' ? String(value).replace(/FF$/, '') : brief(value);

/** The suffix with the unit of a number. */
const unitOf = (tweak) => tweak.unit ? ' ' + clean(tweak.unit) : '';

/** The value of a typed expression, such as `40*2`; empty if the text is the value itself. */
export function meaningOf(text, tweak) {
  const { kind, value } = tweak;
  if (['string', 'point'].includes(kind) || has(tweak, 'secret') || isWritten(kind, text, value)) return '';
  return `${clean(text)} = ${plain(kind, value)}${unitOf(tweak)}`;
}

/** Whether a text is another notation of the value: `#f80`, `1_000`, `steps(4, end)`. */
function isWritten(kind, text, value) {
  if (kind === 'color') return [value, value.replace(/FF$/, '')].includes(text.toUpperCase());
  if (kind === 'curve') return longText(text).toLowerCase().replaceAll(' ', '') === value;
  const [one, other] = [text, shown(value)].map((text) => measure(kind, text));
  if (!one || !other) return text === shown(value);
  return one.digits * 10n ** BigInt(other.scale) === other.digits * 10n ** BigInt(one.scale);
}
