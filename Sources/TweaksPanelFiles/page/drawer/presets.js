// Shows the tab Presets: save, compare, load, swap, delete.

import { change } from '../changes.js';
import { choose, chosen } from '../compare/keys.js';
import { bdi, button, h, on, table } from '../dom.js';
import { brief, when } from '../format.js';
import { toast } from '../notifications.js';
import { request } from '../requests.js';
import { may, mayAll } from '../session.js';
import { tweaks } from '../tweaks.js';
import { link, showing } from './pane.js';

export function showPresets() {
  const name = h('input', {
    type: 'text',
    label: 'Name of the preset',
    placeholder: 'name',
    part: 'preset-name',
    autocomplete: 'off',
  });
  const out = h('div', { role: 'status' });
  const attempt = async (method, path, content, text) => {
    try {
      const reply = await change(method, path, content);
      await showPresets();
      toast(text(reply));
    } catch (error) {
      out.replaceChildren(...problems(error));
    }
  };
  const problems = (
    { message, reply },
  ) => [
    h('p.error', message),
    ...reply?.problems
      ? [h('ul', ...reply.problems.map((problem) => h('li', `line ${problem.line}: ${problem.message}`)))]
      : [],
  ];
  const save = () =>
    attempt(
      'PUT',
      '/api/presets/' + encodeURIComponent(name.value.trim()),
      {},
      (reply) => `Saved ${reply.saved}: ${reply.count} ${reply.count === 1 ? 'tweak' : 'tweaks'}`,
    );
  on(name, 'keydown', (event) => {
    if (event.key === 'Enter') save();
  });
  const compare = async (preset) => {
    try {
      const { differences, left, right } = await request(
        'GET',
        `/api/presets/${encodeURIComponent(preset)}/diff`,
      );
      out.replaceChildren(
        h('h3', `${right} vs. ${left === 'in force' ? 'current values' : left}`),
        differences.length
          ? table(
            ['Tweak', 'Current', right],
            differences.map((
              { path, left, right },
            ) => [link(path), left == null ? '–' : brief(left), right == null ? '–' : brief(right)]),
          )
          : h('p.soft', 'No differences.'),
      );
    } catch (error) {
      out.replaceChildren(...problems(error));
    }
  };
  return showing('presets', () => request('GET', '/api/presets'), ({ presets }) =>
    [
      h('h2', 'Presets'),
      h(
        'p.soft',
        'A preset keeps all overrides under a name. Swap replaces all overrides with the preset; ' +
          'swap again to go back.',
      ),
      may('write')
        ? h(
          'div.cluster',
          h('div.box', name),
          button('Save', save, { class: 'button main', part: 'preset-save' }),
        )
        : null,
      h(
        'ul',
        ...presets.map((preset, position) => {
          const path = '/api/presets/' + encodeURIComponent(preset.name);
          const remove = button('Delete', () => {
            if (remove.isSure) return attempt('DELETE', path, null, () => 'Deleted ' + preset.name);
            remove.isSure = true;
            remove.textContent = 'Delete permanently?';
          }, { class: 'button plain danger' });
          return h(
            'li',
            { 'data-preset': preset.name },
            h(
              'div.apart',
              h('strong', bdi(preset.name)),
              h(
                'span.soft',
                [
                  preset.error,
                  preset.tweaks != null && `${preset.tweaks} tweaks`,
                  preset.pattern,
                  preset.by,
                  when(preset.saved),
                ].filter(Boolean).join(' · '),
              ),
            ),
            // Each is a request.
            position < 12 ? effects(preset) : null,
            h(
              'div.cluster',
              button('Compare', () => compare(preset.name)),
              may('write') ? choice(preset.name) : null,
              may('write')
                ? button('Load', () => attempt('POST', path + '/load', {}, () => 'Loaded ' + preset.name))
                : null,
              mayAll('write')
                ? button(
                  'Swap',
                  () => attempt('POST', path + '/swap', {}, () => 'Swapped with ' + preset.name),
                )
                : null,
              mayAll('admin') ? remove : null,
            ),
          );
        }),
      ),
      presets.length ? null : h('p.empty', 'No presets yet.'),
      out,
    ].filter(Boolean));
}

/** Chooses the preset that Shift and the key left of 1 show. */
function choice(name) {
  const toggle = button('⇧ `', () => {
    choose(chosen.preset === name ? null : name);
    for (const other of document.querySelectorAll('[data-part=preset-choice]')) other.ariaPressed = 'false';
    toggle.ariaPressed = String(chosen.preset === name);
  }, {
    part: 'preset-choice',
    'aria-pressed': String(chosen.preset === name),
    label: 'Show while Shift and the key left of 1 are held',
    title: 'Show while Shift and the key left of 1 are held',
  });
  return toggle;
}

/** What loading and swapping a preset would do, once that is known; its line has room from the beginning. */
function effects({ name, error }) {
  const line = h('div.soft', { part: 'preset-effects' }, '\u00a0');
  if (error) return line;
  request('GET', `/api/presets/${encodeURIComponent(name)}/diff`).then(({ differences }) => {
    const known = differences.filter(({ path }) => tweaks.has(path));
    const set = known.filter(({ right }) => right != null).length;
    const reset = known.length - set;
    const swap = reset ? `; Swap also resets ${reset}` : '';
    line.textContent = known.length ? `Load changes ${set || 'nothing'}${swap}` : 'In force';
  }, () => {});
  return line;
}
