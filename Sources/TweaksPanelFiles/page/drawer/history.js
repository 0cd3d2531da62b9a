// Shows the tab History: the last changes with their origins.

import { bdi, button, clean, h } from '../dom.js';
import { moveText, when } from '../format.js';
import { isBack, restoreButton, scrubber } from '../compare/scrubber.js';
import { request } from '../requests.js';
import { may } from '../session.js';
import { step } from '../undo.js';
import { link, showing } from './pane.js';

export function showHistory() {
  // The slider of the time stays under the finger.
  const load = () => request('GET', '/api/history?count=100');
  return showing('history', load, ({ history, undo, redo }) => isBack() ? null : [
    h('h2', 'History'),
    h(
      'p.soft',
      'All changes, newest first. Undo takes back your own last change; a change of another user only ' +
        'after you confirm it.',
    ),
    h(
      'p.cluster',
      button('Undo', () => step('undo'), { disabled: !undo || !may('write') }),
      button('Redo', () => step('redo'), { disabled: !redo || !may('write') }),
    ),
    scrubber(history),
    history.length
      ? h('ol', ...history.map((entry) => item(entry, history)))
      : h('p.empty', 'No changes yet.'),
  ].filter(Boolean));
}

function item(entry, history) {
  const details = [kindOf(entry, history), entry.undone ? 'undone' : '', when(entry.time)].filter(Boolean);
  return h(
    'li',
    { class: entry.undone ? 'undone' : null },
    h('div.apart', bdi(entry.by), h('span.soft', details.join(' · '))),
    ...entry.changes.slice(0, 12).map((change) =>
      h('div', link(change.path), ' ', h('span.soft', moveText(change)))
    ),
    entry.changes.length > 12 ? h('div.soft', `and ${entry.changes.length - 12} more`) : null,
    may('write') ? restoreButton(entry) : null,
  );
}

/** The kind of an entry; for undo and redo with the origin of the change. */
function kindOf({ kind, of, by, own }, history) {
  if (kind === 'change') return '';
  if (kind !== 'undo' && kind !== 'redo') return kind;
  const target = history.find(({ rev }) => String(rev) === String(of));
  if (!target) return `${kind} of revision ${of}`;
  const isSame = target.by === by && target.own === own;
  return `${kind} of ${isSame ? 'their own' : clean(target.by) + '’s'} change`;
}
