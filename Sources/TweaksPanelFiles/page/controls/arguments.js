// The arguments of an action: a field for each that is declared, or one for any where nothing is.

import { h } from '../dom.js';
import { brief, shown } from '../format.js';

/** Fields, and `read`, which gives what they hold as the process takes it: texts, one for each argument. */
export function argumentFields(row) {
  const declared = row.tweak.arguments;
  if (!declared) return anything(row);
  const fields = declared.map((argument) => fieldOf(row, argument));
  return { elements: fields.map(({ element }) => element), read: () => texts(fields) };
}

/** What was not filled in is left out at the end, and is the default before that. */
function texts(fields) {
  const filled = fields.map(({ value }) => value());
  const last = filled.findLastIndex((text) => text !== '');
  return fields.flatMap(({ argument }, index) => {
    const standard = argument.default;
    if (filled[index] !== '') return [filled[index]];
    if (standard == null) throw new Error(`${argument.name} is missing; fill it in`);
    return index < last ? [shown(standard)] : [];
  });
}

function fieldOf(row, argument) {
  const { name, kind, choices } = argument;
  const title = [name, kind, rangeOf(argument), argument.help].filter(Boolean).join(' · ');
  const attributes = { part: 'argument', label: `${name}: ${row.label}`, title, 'data-argument': name };
  const options = kind === 'bool' ? ['true', 'false'] : choices?.map((choice) => choice.name ?? choice);
  const input = options ? selectOf(options, argument, attributes) : textOf(argument, attributes);
  const element = h('label.box.argument', h('span.unit', name), input);
  return { argument, element, value: () => kind === 'string' ? input.value : input.value.trim() };
}

function selectOf(options, argument, attributes) {
  const hint = argument.default == null ? '' : `${shown(argument.default)} (default)`;
  const empty = h('option', { value: '' }, hint);
  return h('select', attributes, empty, ...options.map((name) => h('option', { value: name }, name)));
}

function textOf(argument, attributes) {
  const isNumber = ['int', 'number'].includes(argument.kind);
  const placeholder = argument.default == null ? rangeOf(argument) || argument.kind : brief(argument.default);
  const more = { type: 'text', placeholder, inputmode: isNumber ? 'decimal' : null };
  return h('input', { ...attributes, ...more, autocomplete: 'off', spellcheck: 'false', dir: 'auto' });
}

function rangeOf({ min, max }) {
  return min == null && max == null ? '' : `${shown(min ?? '')}…${shown(max ?? '')}`;
}

/** One field for all, as a shell would have them. */
function anything(row) {
  const input = h('input', {
    type: 'text',
    part: 'arguments',
    placeholder: 'arguments',
    label: `Arguments of ${row.label}`,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  return { elements: [h('div.box', input)], read: () => words(input.value) };
}

/** Words as a shell would have them: quotes keep blanks together. */
const words = (text) =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) =>
    double?.replace(/\\(.)/g, '$1') ?? single ?? bare
  );
