// The tab People: the sessions of the process, which can be ended.

import { bdi, button, byId, clean, h, root } from '../dom.js';
import { duration } from '../numbers/decimal.js';
import { request } from '../requests.js';
import { mayAll, session as self } from '../session.js';
import { signOut } from '../sign-in-form.js';
import { drawer, showing, tab } from './pane.js';

const personal = (session) =>
  [
    session.own ? 'this page' : '',
    session.transport,
    session.peer,
    (session.scopes ?? []).join(' '),
    session.watches && 'watching',
    session.commits && `${session.commits} ${session.commits === 1 ? 'change' : 'changes'}`,
    `for ${duration(BigInt(session.ageSeconds) * 1000000000n)}`,
  ].filter(Boolean).join(' · ');
export function showPeople() {
  return showing(
    'people',
    countPeople,
    (sessions) => [
      h('h2', 'Who is here'),
      h('p.soft', `You are ${clean(self.identity)}.`),
      h(
        'ul',
        ...sessions.map((session) =>
          h(
            'li',
            h(
              'div.apart',
              h('strong', bdi(session.identity)),
              session.own ? null : button('Disconnect', async () => {
                await request('DELETE', '/api/sessions/' + session.session);
                showPeople();
              }, { class: 'button plain danger', label: 'Disconnect session ' + session.session }),
            ),
            h('div.soft', personal(session)),
          )
        ),
      ),
      h('p', button('Sign out', signOut)),
    ],
  );
}

async function countPeople() {
  if (!mayAll('admin') || root.dataset.state !== 'connected') return [];
  try {
    const { sessions } = await request('GET', '/api/sessions');
    byId('people').lastElementChild.textContent = sessions.length;
    return sessions;
  } catch (error) {
    byId('people').hidden = error.code === 'denied';
    return [];
  }
}

setInterval(() => {
  if (drawer.open && tab === 'people' && !document.hidden) showPeople();
}, 5000);

countPeople();
