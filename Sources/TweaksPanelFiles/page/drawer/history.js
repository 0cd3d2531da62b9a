// The tab History: who changed what.

import { bdi, button, h } from '../dom.js';
import { brief, when } from '../format.js';
import { request } from '../requests.js';
import { may } from '../session.js';
import { has, tweaks } from '../tweaks.js';
import { step } from '../undo.js';
import { link, showing } from './pane.js';

export function showHistory() {
  return showing('history', () => request('GET', '/api/history?count=100'), ({ history }) => [
    h('h2', 'History'),
    h('p.soft', 'Who changed what, the newest first. Undo takes back the last change.'),
    h(
      'p.cluster',
      button('Undo', () => step('undo'), { disabled: !may('write') }),
      button('Redo', () => step('redo'), { disabled: !may('write') }),
    ),
    history.length
      ? h(
        'ol',
        ...history.map((entry) =>
          h(
            'li',
            { class: entry.undone ? 'undone' : null },
            h(
              'div.apart',
              bdi(entry.by),
              h(
                'span.soft',
                [entry.kind === 'change' ? '' : entry.kind, entry.undone ? 'undone' : '', when(entry.time)]
                  .filter(Boolean).join(' · '),
              ),
            ),
            ...entry.changes.slice(0, 12).map(({ path, was, value, ...more }) =>
              h(
                'div',
                link(path),
                ' ',
                h(
                  'span.soft',
                  (has(tweaks.get(path) ?? {}, 'secret')
                    ? '(secret)'
                    : `${was == null ? 'no override' : brief(was, 40)} → ${
                      value == null ? 'no override' : brief(value, 40)
                    }`) + (more.for ? ' for ' + more.for : ''),
                ),
              )
            ),
            entry.changes.length > 12 ? h('div.soft', `and ${entry.changes.length - 12} more`) : null,
          )
        ),
      )
      : h('p.empty', 'Nothing was changed yet.'),
  ]);
}
