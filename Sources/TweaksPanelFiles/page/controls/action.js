// Creates the control of an action: argument fields, a button, and the output.

import { clean, h, on } from '../dom.js';
import { request } from '../requests.js';
import { argumentFields } from './arguments.js';

export function action(row) {
  const fields = argumentFields(row);
  const result = h('pre.result', { part: 'result', role: 'status', hidden: true });
  const label = h('span', 'Run');
  const run = h('button.button', { part: 'run', label: 'Run ' + row.label, onclick: start }, label);
  for (const element of fields.elements) {
    on(element, 'keydown', (event) => {
      if (event.key === 'Enter') start();
    });
  }

  async function start() {
    if (run.ariaBusy === 'true') return;
    row.showError('');
    result.hidden = true;
    const spin = h('i.spin');
    try {
      const list = fields.read();
      run.ariaBusy = 'true';
      label.textContent = 'Running…';
      run.prepend(spin);
      const reply = await request('POST', '/api/run', { path: row.tweak.path, arguments: list });
      result.textContent = clean(reply.output || 'done');
      result.hidden = false;
    } catch (error) {
      row.showError(error.message);
    }
    run.ariaBusy = 'false';
    label.textContent = 'Run';
    spin.remove();
  }

  return { element: h('div', h('div.line.arguments', ...fields.elements, run), result), show() {} };
}
