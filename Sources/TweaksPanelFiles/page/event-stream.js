// Parses server-sent events from a response; EventSource cannot send the header with the key.

import { parse } from './numbers/decimal.js';

/** Yields each event; calls `alive` whenever anything arrives. */
export async function* events(source, alive) {
  const reader = source.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let from = 0;
  let event = { data: [] };
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    alive();
    rest += value;
    let start = 0;
    let end;
    while ((end = rest.indexOf('\n', Math.max(from, start))) >= 0) {
      const line = rest.slice(start, end).replace(/\r$/, '');
      start = end + 1;
      if (!line) {
        if (event.data.length) yield { ...event, data: parse(event.data.join('\n')) };
        event = { data: [] };
        continue;
      }
      const colon = line.indexOf(':');
      const name = line.slice(0, colon);
      const text = line.slice(colon + 1).replace(/^ /, '');
      if (name === 'data') event.data.push(text);
      else if (name === 'id' || name === 'event') event[name] = text;
    }
    rest = rest.slice(start);
    from = rest.length;
  }
}
