// Creates the argument fields of an action: one per declared argument, or a single one without a declaration.

import { h } from '../dom.js';
import { brief, shown } from '../format.js';

/** The fields, and `read`, which returns the arguments as an array of texts. */
export function argumentFields(row) {
  const declared = row.tweak.arguments;
  if (!declared) return anything(row);
  const fields = declared.map((argument) => fieldOf(row, argument));
  return { elements: fields.map(({ element }) => element), read: () => texts(fields) };
}

/** Empty fields at the end are omitted; earlier empty fields get the default. */
function texts(fields) {
  const filled = fields.map(({ value }) => value());
  const last = filled.findLastIndex((text) => text !== '');
  return fields.flatMap(({ argument }, index) => {
    const defaultValue = argument.default;
    if (filled[index] !== '') return [filled[index]];
    if (defaultValue == null) throw new Error(`${argument.name} is missing; fill it in`);
    return index < last ? [shown(defaultValue)] : [];
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

/** One field for all arguments, in the syntax of a shell. */
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

/** Splits words by the rules of a shell: quotes preserve spaces. */
const words = (text) =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) =>
    double?.replace(/\\(.)/g, '$1') ?? single ?? bare
  );
