// Asks for the plan of a rollout of the drafts, and shows how many processes its steps reach.

import { button, h, icon, on } from '../dom.js';
import { openDrawer } from '../drawer/drawer.js';
import { toast } from '../notifications.js';
import { request } from '../requests.js';
import { ask } from './dialog.js';
import { counted, fleet, processes } from './state.js';
import { changeList, checked, refusalNotice, seen } from './write.js';

export async function rollOut(paths) {
  const dialog = ask(`Roll out: ${counted(paths.length, 'tweak')} of ${fleet.name}`);
  const reply = await checked(dialog, paths, false);
  if (!reply) return;
  const known = await request('GET', '/api/fleet/figures').catch(() => ({ figures: [], labels: [] }));
  let [isReached, first, asked] = [false, '', 0];
  const { notice, force } = refusalNotice(reply.refusals, allow);
  const form = planForm(known, plan);
  const reach = h('div', { part: 'reach', role: 'status' });
  dialog.fill(changeList(reply.changes), notice, form.element, reach);
  const content = () => ({ changes: seen(reply.changes, false), force: force(), ...form.content() });
  const begin = async () => {
    const { rollout } = await request('POST', '/api/fleet/rollouts', content());
    toast(`Rollout ${rollout} has begun: ${first}`);
    openDrawer('rollouts');
  };
  dialog.offer('Begin', begin);
  dialog.refuse(reply.problem ?? '');
  plan();

  function allow() {
    dialog.allow(isReached && !reply.problem && (!reply.refusals.length || force()));
  }
  /** Asks how many processes the plan reaches, once the user pauses. */
  function plan() {
    const own = ++asked;
    isReached = false;
    allow();
    setTimeout(async () => {
      if (own !== asked) return;
      let answer;
      try {
        answer = await request('POST', '/api/fleet/rollouts', { ...content(), dry: true });
      } catch (error) {
        if (own === asked) reach.replaceChildren(h('p.error', error.message));
        return;
      }
      if (own !== asked) return;
      isReached = true;
      const steps = answer.reach.map(({ share, count }) => `${share} %: ${count}`).join(', ');
      first = processes(answer.reach[0].count);
      reach.replaceChildren(h('p', `Of ${processes(answer.eligible)} the steps reach ${steps}.`));
      dialog.offer(`Begin with ${first}`, begin);
      allow();
    }, 250);
  }
}

function planForm({ figures, labels }, onchange) {
  const field = (label, value, more) => {
    const input = h('input', { type: 'text', value, autocomplete: 'off', spellcheck: 'false', ...more });
    return { input, element: h('label', h('span', label), h('span.box', input)) };
  };
  const steps = field('Steps, in percent', '1,10,50,100', { part: 'steps' });
  const every = field('Time between two steps', '5m', { part: 'every' });
  const where = field('Only processes with labels', '', {
    part: 'where',
    placeholder: labels[0] ?? 'zone=eu',
    list: 'fleet-labels',
  });
  const within = field('To be finished within', '', { part: 'within', placeholder: 'by itself' });
  const keep = h('input', { type: 'checkbox', part: 'keep' });
  const conditions = h('div.conditions');
  const add = button('Add a condition', () => {
    conditions.append(conditionOf(figures, onchange));
    onchange();
  }, { class: 'button plain', part: 'add-condition' });
  const element = h(
    'form.plan',
    h('datalist', { id: 'fleet-labels' }, ...labels.map((label) => h('option', { value: label }))),
    ...[steps, every, where, within].map((one) => one.element),
    h(
      'fieldset',
      h('legend', 'Revert when a tenth of the members meets this twice'),
      conditions,
      figures.length ? add : h('p.soft', 'No build publishes a figure to compare.'),
    ),
    h('label.check', keep, ' When its driver ends, the rollout stays at its share instead of being reverted'),
  );
  on(element, 'input', onchange);
  on(element, 'submit', (event) => event.preventDefault());
  const texts = (text) => text.split(/[\s,]+/).filter(Boolean);
  return {
    element,
    content: () => ({
      steps: steps.input.value.replaceAll(' ', ''),
      every: every.input.value.trim(),
      where: texts(where.input.value),
      abortIf: [...conditions.children].map((line) => line.text()),
      ...within.input.value.trim() ? { confirmWithin: within.input.value.trim() } : {},
      keep: keep.checked,
    }),
  };
}

/** A line that makes one condition. */
function conditionOf(figures, onchange) {
  const choice = (label, part, ...options) =>
    h('select', { label, part }, ...options.map(([value, text]) => h('option', { value }, text)));
  const figure = choice('Figure', 'figure', ...figures.map((path) => [path, path]));
  const signs = [['>', 'above'], ['>=', 'at least'], ['<', 'below'], ['<=', 'at most']];
  const sign = choice('Comparison', 'sign', ...signs);
  const number = h('input', {
    type: 'text',
    inputmode: 'decimal',
    value: '2',
    label: 'Limit',
    part: 'limit',
  });
  const unit = choice('Compared with', 'unit', ['× others', '× others'], ['', 'as a number']);
  const line = h(
    'div.condition',
    h('span.box', figure),
    h('button.button.plain', {
      label: 'Remove the condition',
      onclick: () => {
        line.remove();
        onchange();
      },
    }, icon('close')),
    h('span.box', sign),
    h('span.box.number', number),
    h('span.box', unit),
  );
  line.text = () =>
    [JSON.stringify(figure.value), sign.value, number.value.trim() || '?', unit.value]
      .filter(Boolean).join(' ');
  return line;
}
