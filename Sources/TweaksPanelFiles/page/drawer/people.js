// Shows the tab People: the user's identity and name, and the sessions of the process.

import { bdi, button, byId, clean, h, replaceContent, root } from '../dom.js';
import { duration } from '../numbers/decimal.js';
import { request } from '../requests.js';
import { mayAll, session as self } from '../session.js';
import { listen } from '../signals.js';
import { isMounted } from '../site.js';
import { signOut } from '../sign-in-form.js';
import { nameForm } from './name-form.js';
import { drawer, pane, showing, tab } from './pane.js';

const list = h('ul');
const own = h('p.soft');

export function showPeople() {
  return showing('people', countPeople, (sessions) => {
    draw(sessions);
    return [
      h('h2', 'People'),
      own,
      nameForm(refresh),
      list,
      // The site signs its users out.
      isMounted ? '' : h('p', button('Sign out', signOut)),
    ];
  });
}

/** Redraws only the list, so that a name that is being typed stays. */
async function refresh() {
  const sessions = await countPeople();
  // Replacing a pressed button would lose its click.
  if (!pane.matches(':active')) draw(sessions);
}

function draw(sessions) {
  own.textContent = `You are ${clean(self.identity)}.`;
  replaceContent(list, sessions.map(item));
}

function item(session) {
  const { identity, session: number } = session;
  const end = async () => {
    await request('DELETE', '/api/sessions/' + number);
    refresh();
  };
  return h(
    'li',
    { 'data-own': session.own },
    h(
      'div.apart',
      h('strong', bdi(identity)),
      session.own ? h('span.badge', 'you') : button('Disconnect', end, {
        class: 'button plain danger',
        label: `Disconnect ${identity}, session ${number}`,
      }),
    ),
    h('div.soft', details(session)),
  );
}

const details = (session) =>
  [
    session.transport,
    session.peer,
    (session.scopes ?? []).join(' '),
    session.watches && 'watching',
    session.commits && `${session.commits} ${session.commits === 1 ? 'change' : 'changes'}`,
    `for ${duration(BigInt(session.ageSeconds) * 1000000000n)}`,
  ].filter(Boolean).join(' · ');

let people = [];

/** The authenticated sessions: browsers also connect in advance. Without an answer the last known ones. */
async function countPeople() {
  if (!mayAll('admin')) return [];
  if (root.dataset.state !== 'connected') return people;
  try {
    const { sessions } = await request('GET', '/api/sessions');
    people = sessions.filter(({ state }) => state === 'open');
    byId('people').lastElementChild.textContent = people.length;
  } catch { /* they are asked for again */ }
  return people;
}

setInterval(() => {
  if (drawer.open && tab === 'people' && !document.hidden) refresh();
}, 5000);

// After the list, which users wait for.
listen('shown', () => setTimeout(countPeople, 1500));
