// Actions: what is run with arguments, and what came of it.

import { clean, h, on } from '../dom.js';
import { request } from '../requests.js';

/** Words as a shell would have them: quotes keep blanks together. */
const words = (text) =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) =>
    double?.replace(/\\(.)/g, '$1') ?? single ?? bare
  );
export function action(row) {
  const input = h('input', {
    type: 'text',
    part: 'arguments',
    placeholder: 'arguments',
    label: `Arguments of ${row.label}`,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const result = h('pre.result', { part: 'result', role: 'status', hidden: true });
  const label = h('span', 'Run');
  const run = h('button.button', { part: 'run', label: 'Run ' + row.label, onclick: start }, label);
  on(input, 'keydown', (event) => {
    if (event.key === 'Enter') start();
  });
  async function start() {
    if (run.ariaBusy === 'true') return;
    run.ariaBusy = 'true';
    label.textContent = 'Running…';
    const spin = h('i.spin');
    run.prepend(spin);
    row.say('');
    result.hidden = true;
    try {
      const list = words(input.value);
      const reply = await request('POST', '/api/run', { path: row.tweak.path, arguments: list });
      result.textContent = clean(reply.output || 'done');
      result.hidden = false;
    } catch (error) {
      row.say(error.message);
    }
    run.ariaBusy = 'false';
    label.textContent = 'Run';
    spin.remove();
  }
  return { element: h('div', h('div.line', h('div.box', input), run), result), show() {} };
}
