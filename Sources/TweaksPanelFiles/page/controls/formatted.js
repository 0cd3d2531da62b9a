// Creates the control of a text in a format, such as a date or a URL: a field that marks what does not fit.

import { byId, h, on } from '../dom.js';
import { shown } from '../format.js';
import { field } from './field.js';

/** The attributes of the fields, and the remark on a text that does not fit; the process decides. */
const formats = {
  'uri': { attributes: { type: 'url' }, hint: 'not an absolute URL such as https://example.com/feed' },
  'date-time': { attributes: { type: 'datetime-local', step: 1 }, hint: 'not a whole date and time' },
  'uuid': {
    attributes: { pattern: '[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}', maxlength: 36 },
    hint: 'not a UUID: 32 hexadecimal digits, as 8-4-4-4-12',
    look: 'code',
  },
  'decimal': {
    attributes: { inputmode: 'decimal', pattern: '[+\\-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+\\-]?[0-9]+)?' },
    hint: 'not a decimal number such as 19.99',
    look: 'number',
  },
  'byte': {
    attributes: { pattern: '[A-Za-z0-9+\\/_\\-]*={0,2}' },
    hint: 'not base64 such as aGVsbG8=',
    look: 'code',
  },
  'time-zone': { attributes: { list: 'time-zones' } },
  'locale': { attributes: { pattern: '[A-Za-z0-9_\\-@=;]+' }, hint: 'not a locale such as de_DE' },
};

/** Whether a tweak is a text in a format that has a field of its own. */
export const isFormatted = ({ kind, format }) => kind === 'string' && Object.hasOwn(formats, format ?? '');

export function formatted(row) {
  const { attributes, hint, look } = formats[row.tweak.format];
  const isDate = row.tweak.format === 'date-time';
  const input = field(row, { ...attributes, ...(isDate ? { read: readDate, isDate } : {}) });
  if (attributes.list) listTimeZones();
  on(input, 'input', () => row.showError(input.validity.valid ? '' : hint));
  return {
    element: h('div', { class: 'box ' + (look ?? '') }, input, isDate ? h('span.unit', 'UTC') : null),
    show(value) {
      // Milliseconds have fields of their own where the value has some.
      if (isDate) input.step = value.includes('.') ? 0.001 : 1;
      // The title of a disabled field is the reason.
      if (isDate && !row.reason) input.title = inWords(value);
      input.put(isDate ? inField(value) : shown(value));
    },
  };
}

// Dates -------------------------------------------------------------------------------------------------

/** The text that such a field has for a time in UTC: without the zone, and without zeros at the end. */
const inField = (value) => value.replace(/(:00|(?<=[.][0-9]*)0+)?Z$/, '');

/** The change that such a field means. */
function readDate(text) {
  const hasSeconds = text.split(':').length > 2;
  return { value: text && text + (hasSeconds ? 'Z' : ':00Z') };
}

/** The time at the place of the reader. */
function inWords(value) {
  const date = new Date(value);
  return isNaN(date) ? '' : `${date.toLocaleString()} in your time zone; the field is in UTC`;
}

// Time zones --------------------------------------------------------------------------------------------

/** Offers the names of time zones; one list serves all fields. */
function listTimeZones() {
  if (byId('time-zones')) return;
  const names = Intl.supportedValuesOf?.('timeZone') ?? [];
  document.body.append(h('datalist', { id: 'time-zones' }, ...names.map((value) => h('option', { value }))));
}
