// Follows the state of the fleet by long polls, and signals each new one.

import { request } from '../requests.js';
import { isConnected } from '../session.js';
import { emit } from '../signals.js';

/** The last known state; the lists are empty before the first one. */
export const fleet = {
  number: 0,
  name: 'the fleet',
  live: 0,
  problems: [],
  rollouts: [],
  ended: [],
  drafts: null,
  differing: new Set(),
  undefaulted: new Set(),
};

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
/** A hidden window leaves its connection to others. */
const isReady = () => isConnected() && !document.hidden;

function take(reply) {
  Object.assign(fleet, {
    number: reply.number,
    name: reply.fleet,
    live: Number(reply.live),
    problems: reply.problems,
    rollouts: reply.rollouts,
    ended: reply.ended,
    drafts: new Set(reply.drafts ?? []),
    differing: new Set(reply.differing ?? []),
    undefaulted: new Set(reply.undefaulted ?? []),
  });
  emit('fleet');
}

export async function follow() {
  for (;;) {
    if (!isReady()) await pause(200);
    else {
      try {
        take(await request('GET', '/api/fleet?after=' + fleet.number));
      } catch {
        // The state of the connection says why.
        await pause(1000);
      }
    }
  }
}

/** `1 process`, `2 processes` */
export const counted = (count, one, many = one + 's') => `${count} ${Number(count) === 1 ? one : many}`;
export const processes = (count) => counted(count, 'process', 'processes');
