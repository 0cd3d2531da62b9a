// Sets drafts for all processes, and resets the fleet's values, after it has shown what that changes.

import { bdi, h } from '../dom.js';
import { brief, encodePath } from '../format.js';
import { toast } from '../notifications.js';
import { request } from '../requests.js';
import { ask } from './dialog.js';
import { counted, fleet, processes } from './state.js';

/** A value of the fleet; without one, each process has its own. */
export const valueText = (value) => value == null ? 'no value of the fleet' : brief(value);

/** The paths with their old and new values, and who has which value. */
export function changeList(changes) {
  return h(
    'ul.fleet-changes',
    ...changes.map(({ path, old, new: next, held }) =>
      h(
        'li',
        h('a', { href: '#/' + encodePath(path), tabindex: '-1' }, bdi(path)),
        h('div', h('del', bdi(valueText(old))), ' → ', h('ins', bdi(valueText(next)))),
        ...held.slice(0, 6).map((group) => h('div.soft', heldText(group))),
        held.length > 6 ? h('div.soft', `and ${held.length - 6} other states`) : null,
      )
    ),
  );
}

const heldText = ({ count, text }) => `${processes(count)}: ${text}`;

/** What builds refuse, with a box to write it nevertheless; `force` tells whether that is checked. */
export function refusalNotice(refusals, onchange) {
  const box = h('input', { type: 'checkbox', part: 'force', onchange: () => onchange(box.checked) });
  const notice = refusals.length
    ? h(
      'div.notice',
      { part: 'refusals' },
      h('ul', ...refusals.map((text) => h('li', text))),
      h('label', box, ' Write it nevertheless; these processes keep what they have'),
    )
    : null;
  return { notice, force: () => box.checked };
}

/** Asks for the check of changes, and shows it. */
export async function checked(dialog, paths, isReset) {
  try {
    const changes = paths.map((path) => isReset ? { path, reset: true } : { path });
    return await request('POST', '/api/fleet/check', { changes });
  } catch (error) {
    dialog.fill();
    dialog.refuse(error.message);
    dialog.inform();
    return null;
  }
}

/** What a user has seen of the changes, for the server to compare. */
export const seen = (changes, isReset) =>
  changes.map(({ path, old, new: next }) => ({
    path,
    ...old == null ? {} : { old },
    ...isReset ? { reset: true } : { new: next },
  }));

export async function confirmWrite(paths, isReset = false) {
  const what = isReset ? 'Reset for all' : 'Set for all';
  const dialog = ask(`${what}: ${counted(paths.length, 'tweak')} of ${fleet.name}`);
  const reply = await checked(dialog, paths, isReset);
  if (!reply) return;
  const { changes, refusals, problem, notes, live } = reply;
  const { notice, force } = refusalNotice(refusals, (isForced) => dialog.allow(isForced && !problem));
  dialog.fill(
    h(
      'p.soft',
      isReset
        ? 'The fleet’s value is removed: each process goes on with its next layer, such as its config file.'
        : 'Every process of the fleet applies this at once, also those that start later.',
    ),
    changeList(changes),
    notice,
    ...notes.map((text) => h('p.soft', text)),
  );
  dialog.offer(`${what} ${processes(live)}`, async () => {
    const content = { changes: seen(changes, isReset), force: force() };
    const done = await request('POST', '/api/fleet/write', content);
    toast(done.entry == null ? 'There was nothing to change' : `${what}: entry ${done.entry} of the log`);
  }, { isDanger: isReset });
  dialog.refuse(problem ?? '');
  dialog.allow(!problem && !refusals.length);
}

/** Shows who has which value of a tweak. */
export async function showHolders(path) {
  const dialog = ask('Who has what');
  dialog.inform();
  try {
    const { tweaks: [tweak] } = await request('GET', '/api/fleet/holders?path=' + encodeURIComponent(path));
    const isNone = !tweak.held.length;
    dialog.fill(
      h('p', bdi(path), ': ', bdi(valueText(tweak.desired))),
      h('ul.fleet-changes', ...tweak.held.map((group) => h('li', heldText(group)))),
      isNone ? h('p.soft', 'The fleet has no value of it, so each process has its own.') : null,
    );
  } catch (error) {
    dialog.fill();
    dialog.refuse(error.message);
  }
}
