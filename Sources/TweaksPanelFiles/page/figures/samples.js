// Keeps the values of a figure by time, as the process does: each second, and the extremes of each six.

import { duration, nanoseconds } from '../numbers/decimal.js';
import { request } from '../requests.js';

/** How far back the samples of a period reach, in seconds. */
const reach = { 1: 300, 6: 1800 };
/** The seconds between the samples of the last seconds. */
export const periodOf = (seconds) => seconds <= reach[1] ? 1 : 6;

const isNumber = ({ kind }) => ['int', 'number', 'duration'].includes(kind);
export { isNumber as hasSamples };

/** A value as a number, of a duration its nanoseconds. */
export const numberOf = ({ kind }, value) => kind === 'duration' ? Number(nanoseconds(value)) : Number(value);

/** A number as a value with few digits. */
export function textOf({ kind }, number, digits = 4) {
  const rounded = Number(number.toPrecision(digits));
  return kind === 'duration' ? duration(BigInt(Math.round(rounded))) : String(rounded);
}

export class Samples {
  /** By period: samples of time, value, and the lowest and highest value until then; oldest first. */
  #lists = { 1: [], 6: [] };
  /** By period: the seconds that the process was asked for. */
  #asked = { 1: 0, 6: 0 };
  constructor(tweak) {
    this.tweak = tweak;
  }

  get current() {
    return numberOf(this.tweak, this.tweak.value);
  }

  /** The samples of the last seconds, and the current value. */
  last(seconds, now) {
    const start = now - 1000 * seconds;
    const list = this.#lists[periodOf(seconds)].filter(({ time }) => time >= start && time <= now);
    // The newest sample has the extremes of its span.
    return list.at(-1)?.time === now ? list : [...list, sampleOf(now, this.current)];
  }

  /** Adds the current value. */
  add(now) {
    const { current } = this;
    this.#push(1, sampleOf(now, current));
    const span = this.#lists[6].at(-1);
    if (span && Math.floor(span.time / 6000) === Math.floor(now / 6000)) {
      const [min, max] = [Math.min(span.min, current), Math.max(span.max, current)];
      Object.assign(span, { time: now, value: current, min, max });
    } else this.#push(6, sampleOf(now, current));
  }

  #push(period, sample) {
    const list = this.#lists[period];
    list.push(sample);
    while (list[0].time < sample.time - 1000 * reach[period]) list.shift();
  }

  /** Makes the next load ask again: the page has missed samples. */
  forget() {
    this.#asked = { 1: 0, 6: 0 };
  }

  /** Loads the samples of the last seconds that the page has not seen; returns whether there are any. */
  async load(seconds) {
    const period = periodOf(seconds);
    if (this.#asked[period] >= seconds) return false;
    this.#asked[period] = seconds;
    const path = encodeURIComponent(this.tweak.path);
    try {
      const reply = await request('GET', `/api/figures?path=${path}&seconds=${seconds}`);
      // A later request, for more, has the same samples.
      const isNewest = this.#asked[period] === seconds;
      if (isNewest) this.#merge(period, reply);
      return isNewest;
    } catch {
      // The line begins now. A stream that ends asks again.
      return false;
    }
  }

  /** The clock of the process may differ from that of the browser. */
  #merge(period, { samples, now }) {
    const skew = Date.now() - Date.parse(now);
    const older = samples.map(({ time, value, min = value, max = value }) => ({
      time: Date.parse(time) + skew,
      value: numberOf(this.tweak, value),
      min: numberOf(this.tweak, min),
      max: numberOf(this.tweak, max),
    }));
    const end = older.at(-1)?.time ?? -Infinity;
    this.#lists[period] = [...older, ...this.#lists[period].filter(({ time }) => time > end + 500)];
  }
}

const sampleOf = (time, value) => ({ time, value, min: value, max: value });
