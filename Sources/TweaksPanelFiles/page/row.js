// Shows one tweak: name, control, where its value comes from, and what can be done with it.

import { failed, taken } from './answers.js';
import { drawBadges } from './badges.js';
import { controlOf } from './controls/index.js';
import { bdi, byId, clean } from './dom.js';
import { Draggable } from './drag.js';
import { openDurationMenu } from './duration-menu.js';
import { partly, partsOf } from './format.js';
import { drawLayers, toggleLayers } from './layers.js';
import { say } from './notes.js';
import { nanoseconds } from './numbers/decimal.js';
import { doubt, refreshSoon, restarts } from './refresh.js';
import { drawNotes, meaningOf } from './row-notes.js';
import { drawSoon, rows } from './rows.js';
import { Sender } from './sender.js';
import { may } from './session.js';
import { emit } from './signals.js';
import { store } from './storage.js';
import { favorites, has, isOverridden, tweaks } from './tweaks.js';

export class Row extends Draggable {
  sender = new Sender(this);
  /** Events that came while an answer was on its way. */
  waiting = [];
  /** The last values of a figure. */
  samples = [];
  /** Something is typed that was not sent. */
  isEdited = false;
  isHovered = false;
  /** What others made of it while it was being touched. */
  ghost = null;
  /** What was made of what was typed last. */
  meaning = '';
  /** What is set here next lasts so long. */
  lasts = '';
  /** What the config file says otherwise; null: it was asked. */
  remark = '';
  /** Whose change the control does not show yet: `mine` or `other`. */
  stale = '';

  constructor(tweak) {
    super();
    this.tweak = tweak;
    this.label = clean(partsOf(tweak.path).join(' / '));
    this.reason = this.#reason();
    this.#makeElement();
    this.#addControl();
    this.sample(tweak.value);
    this.control.show(tweak.value);
    this.draw();
  }

  /** Why it cannot be changed here; empty where it can. */
  #reason() {
    const { kind, path } = this.tweak;
    if (kind === 'action') return may('run', path) ? '' : 'you may not run this';
    return may('write', path) ? '' : 'you may not change this';
  }

  #makeElement() {
    const { path, kind, help } = this.tweak;
    const [category, collection, name] = partsOf(path);
    const element = byId('row').content.firstElementChild.cloneNode(true);
    const part = (name) => element.querySelector(`[data-part=${name}]`);
    this.element = element;
    element.row = this;
    Object.assign(element.dataset, { path, kind });
    element.setAttribute('aria-label', this.label);
    element.querySelector('.title a').href = '#/' + partly(path);
    element.querySelector('.title bdi').textContent = clean(name);
    element.querySelector('.crumb').append(bdi(category), ' › ', bdi(collection));
    element.querySelector('.help').textContent = clean(help ?? '');
    this.badges = element.querySelector('.badges');
    this.layers = element.querySelector('.layers');
    this.error = part('error');
    this.reset = part('reset');
    this.lasting = part('for');
    this.explain = part('explain');
    this.star = part('star');
    this.star.ariaPressed = favorites.has(path);
    for (const tool of element.querySelectorAll('.tool')) tool.ariaLabel = `${tool.title}: ${this.label}`;
    if (this.reason) element.ariaDescription = this.reason;
    if (this.reason || kind === 'action' || has(this.tweak, 'read-only')) this.lasting.hidden = true;
  }

  #addControl() {
    const place = this.element.querySelector('.control');
    this.control = controlOf(this);
    place.prepend(this.control.element);
    place.onpointerenter = (event) => {
      this.isHovered = event.pointerType === 'mouse';
    };
    place.onpointerleave = () => {
      this.isHovered = false;
      this.release();
    };
    if (!this.reason) return;
    for (const input of this.control.element.querySelectorAll('input, button, select, textarea')) {
      input.disabled = true;
      input.title = this.reason;
    }
  }

  // States ------------------------------------------------------------------------------------------------

  get isTemporary() {
    return this.tweak.layer === 'temporary override';
  }
  get isArmed() {
    return this.lasts && !this.isTemporary;
  }
  /** The value as this page means it: what is on its way counts. */
  get wanted() {
    return this.drag?.last ?? this.sender.wanted ?? this.tweak.value;
  }
  /** What others do must not move what is being touched. */
  get isHeld() {
    return this.drag || this.isEdited || this.isHovered || this.sender.isBusy;
  }

  // What can be done --------------------------------------------------------------------------------------

  /** One change that is done at once; `job` has what was typed, or the drag that it ends. */
  send(change, job = {}) {
    if (this.lasts && 'value' in change) change = { ...change, for: this.lasts };
    this.isEdited = false;
    this.meaning = '';
    this.sender.push({ ...job, change, settled: true });
  }

  /** A button at the side was pressed. */
  act(part) {
    if (part === 'reset') this.send({ reset: true });
    if (part === 'for' && this.isArmed) this.arm('');
    else if (part === 'for') openDurationMenu(this);
    if (part === 'explain') toggleLayers(this);
    if (part === 'star') this.#toggleFavorite();
    if (part === 'more') {
      const isOpen = this.element.classList.toggle('open');
      this.element.querySelector('[data-part=more]').ariaExpanded = isOpen;
    }
  }

  /** What is set here from now on lasts so long, until what was set that way is over. */
  arm(span) {
    this.lasts = span;
    this.draw();
    say(span ? `changes of ${this.label} last ${span}; Escape ends that` : `changes of ${this.label} stay`);
  }

  #toggleFavorite() {
    const { path } = this.tweak;
    if (!favorites.delete(path)) favorites.add(path);
    store('favorites', [...favorites]);
    this.star.setAttribute('aria-pressed', favorites.has(path));
    emit('favorites');
  }

  /** Arrow keys go to the next row, Enter into the control. */
  moveFocus(event) {
    const all = [...byId('list').querySelectorAll('.row')];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    const next = all[all.indexOf(this.element) + step];
    if (event.key === 'Enter') this.control.element.querySelector('input, button, select, textarea')?.focus();
    else if (next && next !== this.element) next.focus();
    else if (event.key === 'ArrowUp') byId('search').focus();
    else return;
    event.preventDefault();
  }

  // What happened -----------------------------------------------------------------------------------------

  /** The value has changed. */
  changed(event, isMine) {
    if (!isMine) {
      this.meaning = '';
      this.flash(event.by);
      if (this.isHeld) this.ghost = { by: event.by, value: event.value ?? this.tweak.value };
    }
    if (isMine) this.#fade();
    if (isMine && !this.drag) this.ghost = null;
    if (isMine || !this.isHeld) this.stale = isMine ? 'mine' : 'other';
    if (!this.layers.hidden) refreshSoon(this.tweak.path);
    drawSoon(this.tweak.path);
  }

  /** It is no longer touched, so it shows what others made of it. */
  release() {
    if (this.isHeld) return;
    this.ghost = null;
    this.control.show(this.tweak.value);
    this.draw();
  }

  /** Shows for a while who has changed it. */
  flash(by) {
    if (!by) return;
    this.flashed = by;
    this.element.classList.remove('touched');
    requestAnimationFrame(() => this.element.classList.toggle('touched', Boolean(this.flashed)));
    clearTimeout(this.fading);
    this.fading = setTimeout(() => this.#fade(), 4000);
    drawSoon(this.tweak.path);
  }

  /** What another has made of it is over. */
  #fade() {
    clearTimeout(this.fading);
    this.flashed = '';
    this.element.classList.remove('touched');
    drawSoon(this.tweak.path);
  }

  /** Says what was made of what was typed. */
  understood(text) {
    this.meaning = meaningOf(text, this.tweak);
    if (this.meaning) say(this.meaning);
  }

  taken(reply, job) {
    taken(this, reply, job);
  }
  failed(error, job) {
    failed(this, error, job);
  }
  explained(reply) {
    drawLayers(this, reply);
  }

  /** Keeps a value of a figure for its line. */
  sample(value) {
    const { kind } = this.tweak;
    if (!has(this.tweak, 'read-only') || !['int', 'number', 'duration'].includes(kind)) return;
    this.samples.push(kind === 'duration' ? Number(nanoseconds(value)) : Number(value));
    if (this.samples.length > 60) this.samples.shift();
  }

  // Drawing -----------------------------------------------------------------------------------------------

  /** Says what is wrong; an empty text: nothing is. */
  say(text) {
    this.error.hidden = !text;
    this.error.textContent = clean(text);
  }

  draw() {
    const { tweak } = this;
    if (has(tweak, 'read-only')) return this.control.show(tweak.value);
    this.#showStale();
    this.element.toggleAttribute('data-modified', tweak.modified);
    if (this.wasTemporary && !this.isTemporary) this.lasts = '';
    this.wasTemporary = this.isTemporary;
    this.#drawTools();
    drawNotes(this);
    this.control.mark?.(this.ghost?.value);
    drawBadges(this);
    const isDoubtful = tweak.conflict || has(tweak, 'needs-restart') && !restarts.has(tweak.path);
    if (isDoubtful && isOverridden(tweak) && this.remark === '') doubt(this);
  }

  #showStale() {
    const isTouched = this.drag || this.isEdited || this.sender.isBusy;
    if (this.stale && !isTouched && (this.stale === 'mine' || !this.isHovered)) {
      this.ghost = null;
      this.control.show(this.tweak.value);
    }
    this.stale = '';
  }

  #drawTools() {
    const canReset = isOverridden(this.tweak) && !this.reason;
    this.reset.classList.toggle('off', !canReset);
    this.reset.disabled = !canReset;
    this.element.toggleAttribute('data-armed', this.isArmed);
    this.lasting.ariaPressed = this.isArmed ? 'true' : null;
    this.lasting.title = this.isArmed ? 'Set for good again (Escape)' : 'Set for a while';
    this.lasting.ariaLabel = `${this.isArmed ? 'Set for good again' : 'Set for a while'}: ${this.label}`;
  }
}

/** The row of a tweak, which is made when it is asked for. */
export function rowOf(path) {
  let row = rows.get(path);
  if (!row && tweaks.has(path)) rows.set(path, row = new Row(tweaks.get(path)));
  return row;
}
