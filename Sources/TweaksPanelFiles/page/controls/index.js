// Selects the control of a tweak: an element that shows a value, and may mark a value set by another client.

import { has } from '../tweaks.js';
import { action } from './action.js';
import { bool } from './bool.js';
import { choice } from './choice.js';
import { color } from './color.js';
import { curve } from './curve.js';
import { figure } from './figure.js';
import { formatted, isFormatted } from './formatted.js';
import { list } from './list.js';
import { number } from './number.js';
import { optional } from './optional.js';
import { point } from './point.js';
import { secret } from './secret.js';
import { text } from './text.js';

const byKind = {
  bool,
  int: number,
  number,
  duration: number,
  string: text,
  color,
  choice,
  curve,
  point,
  list,
  optional,
};

/** The control of a row, by the kind and the flags of its tweak. */
export function controlOf(row) {
  const { tweak } = row;
  if (tweak.kind === 'action') return action(row);
  if (has(tweak, 'secret')) return secret(row);
  if (has(tweak, 'read-only')) return figure(row);
  if (isFormatted(tweak)) return formatted(row);
  return (byKind[tweak.kind] ?? text)(row);
}
