// Creates, finds and positions elements.

export const root = document.documentElement;
export const byId = (id) => document.getElementById(id);
// External text is shown without control and bidirectional characters, which could affect the text around it.
export const clean = (text) =>
  String(text).replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
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
