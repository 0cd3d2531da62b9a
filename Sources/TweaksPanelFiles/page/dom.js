// Creates, finds and positions elements.

export const root = document.documentElement;
export const byId = (id) => document.getElementById(id);
// External text is shown without control, invisible and bidirectional characters, which could affect the
// text around it or hide in it: the list of Quoting+Invisible.swift. The first alternatives have a visible
// effect on their neighbors.
const joins = '[\\u0600-\\u061b\\u061d-\\u109f\\u1780-\\u17b3\\u17b6-\\u180a\\u1810-\\u18af]';
const flags = '\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073}';
const emoji = '(?!\\p{ASCII})\\p{Emoji}';
const hidden = new RegExp([
  `(?<=${emoji}\\ufe0f?)\\u200d(?=${emoji})`,
  `(?<=${joins})[\\u200c\\u200d](?=${joins})`,
  '(?<=[\\d#*])\\ufe0f(?=\\u20e3)',
  `(?<=${emoji}|\\p{Ideographic})[\\ufe00-\\ufe0f]`,
  '(?<=\\p{Ideographic})[\\u{e0100}-\\u{e01ef}]',
  '(?<=[\\u1820-\\u18aa])[\\u180b-\\u180d\\u180f]',
  `\\u{1f3f4}\\u{e0067}\\u{e0062}(?:${flags})\\u{e007f}`,
  '([\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f'
    + '\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0'
    + '\\ufff0-\\ufffb'
    + '\\u{1bca0}-\\u{1bca3}\\u{1d159}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}])',
].join('|'), 'gu');
export const clean = (text) => String(text).replace(hidden, (found, isHidden) => isHidden ? '\ufffd' : found);
export const on = (element, name, action, ...more) => element.addEventListener(name, action, ...more);
const names = { part: 'data-part', label: 'aria-label' };
/** Creates an element: `h('p.soft', { part: 'note', onclick: act }, 'text', child)`, attributes optional. */
export function h(kind, attributes, ...children) {
  const [tag, ...classes] = kind.split('.');
  const element = document.createElement(tag);
  if (attributes == null || attributes.nodeType || typeof attributes !== 'object') {
    children.unshift(attributes);
    attributes = {};
  }
  if (classes.length) element.className = classes.join(' ');
  if (tag === 'button') element.type = 'button';
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) on(element, name.slice(2), value);
    // ARIA states need a text value: `aria-expanded` without a value has no meaning.
    else if (name.startsWith('aria-') && value != null) element.setAttribute(name, clean(value));
    else if (value != null && value !== false) {
      element.setAttribute(names[name] ?? name, value === true ? '' : clean(value));
    }
  }
  element.append(
    ...children.filter((child) => child != null).map((child) => child.nodeType ? child : clean(child)),
  );
  return element;
}

/** Replaces all children; the control at the same position keeps the focus. */
export function replaceContent(parent, children) {
  const all = () => [...parent.querySelectorAll('a, button, input, textarea')];
  const index = all().indexOf(document.activeElement);
  parent.replaceChildren(...children);
  if (index >= 0) all()[index]?.focus({ preventScroll: true });
}

export const bdi = (text, attributes) => h('bdi', attributes, text);
export const setStyle = (element, name, value) => element.style.setProperty(name, value);
export const svg = (tag, attributes) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  return element;
};

/** An icon from the symbols at the end of index.html. */
export function icon(name) {
  const element = svg('svg', { class: 'icon', 'aria-hidden': 'true' });
  element.append(svg('use', { href: '#icon-' + name }));
  return element;
}

export const button = (text, onclick, more = {}) => h('button.button', { onclick, ...more }, text);
/** Positions a floating element beside its anchor, within the window. */
export function float(element, beside) {
  const { left, top, bottom } = beside.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = element;
  setStyle(element, 'left', Math.max(8, Math.min(left, innerWidth - width - 8)) + 'px');
  const y = bottom + 6 + height > innerHeight ? top - height - 6 : bottom + 6;
  setStyle(element, 'top', Math.max(8, y) + 'px');
}

/** A random unique name. */
export const random = () =>
  crypto.getRandomValues(new Uint32Array(3)).reduce((text, word) => text + word.toString(36), '');
/** A table; lines for which `isNow` returns true are highlighted. */
export function table(head, lines, isNow = () => false) {
  const cell = (content) => h('td', { dir: 'auto' }, content);
  return h(
    'table',
    h('thead', h('tr', ...head.map((text) => h('th', { scope: 'col' }, text)))),
    h('tbody', ...lines.map((line) => h('tr', { class: isNow(line) ? 'now' : null }, ...line.map(cell)))),
  );
}
