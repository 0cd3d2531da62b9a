// Creates the control of an action: argument fields, a button, and the output.

import { clean, h, icon, on } from '../dom.js';
import { request } from '../requests.js';
import { reasonOf } from '../replies.js';
import { argumentFields } from './arguments.js';

export function action(row) {
  const fields = argumentFields(row);
  const input = h('div.arguments', ...fields.elements);
  // One that declares no arguments takes any; its field is offered, since it seldom needs them.
  const offer = row.tweak.arguments ? null : h('button.tool', {
    part: 'offer',
    label: 'Arguments: ' + row.label,
    title: 'Arguments',
    onclick: () => {
      input.hidden = !input.hidden;
      if (!input.hidden) fields.elements[0].querySelector('input').focus();
    },
  }, icon('more'));
  input.hidden = offer != null;
  const result = h('pre.result', { part: 'result', role: 'status', hidden: true });
  const label = h('span', 'Run');
  const run = h('button.button', { part: 'run', label: 'Run ' + row.label, onclick: start }, label);
  for (const element of fields.elements) {
    on(element, 'keydown', (event) => {
      if (event.key === 'Enter' && !event.isComposing) start();
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
      row.showError(reasonOf(error));
    }
    run.ariaBusy = 'false';
    label.textContent = 'Run';
    spin.remove();
  }

  const line = h('div.line.pair', input, h('span.runs', offer, run));
  return { element: h('div.action', line, result), show() {} };
}
