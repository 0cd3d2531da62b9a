// Shows one tweak in a row: its name, control, notes and tools.

import { accepted, failed } from './replies.js';
import { drawBadges } from './badges.js';
import { otherValue } from './compare/hold.js';
import { controlOf } from './controls/index.js';
import { bdi, byId, clean, on } from './dom.js';
import { Draggable } from './drag.js';
import { encodePath, partsOf } from './format.js';
import { drawLayers, toggleLayers } from './layers.js';
import { announce } from './notifications.js';
import { queueCheck, refreshSoon, restarts } from './refresh.js';
import { orderFocus } from './row-keys.js';
import { openDurationMenu, openRowMenu } from './row-menu.js';
import { drawNotes, meaningOf } from './row-notes.js';
import { drawSoon, rows } from './rows.js';
import { Sender } from './sender.js';
import { may } from './session.js';
import { emit } from './signals.js';
import { store } from './storage.js';
import { favorites, has, isOverridden, tweaks } from './tweaks.js';

export class Row extends Draggable {
  sender = new Sender(this);
  /** Events that were received while a reply was pending. */
  waiting = [];
  /** Its text fields. */
  fields = new Set();
  isHovered = false;
  /** A change by another client while this row was in use. */
  ghost = null;
  /** The value of the last typed expression. */
  meaning = '';
  /** The duration of the next changes; empty if they are permanent. */
  nextDuration = '';
  /** The conflict with the config file; empty: not checked; null: being checked, or none. */
  remark = '';
  /** The origin of a change that the control does not show yet: `mine` or `other`. */
  stale = '';

  constructor(tweak) {
    super();
    this.tweak = tweak;
    this.label = clean(partsOf(tweak.path).join(' / '));
    this.reason = this.#reason();
    this.#makeElement();
    this.#addControl();
    this.control.show(tweak.value);
    emit('made', this);
    this.draw();
  }

  /** Why this client cannot change it; empty if it can. */
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
    const link = element.querySelector('.name a');
    link.href = '#/' + encodePath(path);
    if (!help) link.title = clean(name);
    link.firstElementChild.textContent = clean(name);
    element.querySelector('.crumb').append(bdi(category), ' › ', bdi(collection));
    element.querySelector('.help').textContent = clean(help ?? '');
    this.badges = element.querySelector('.badges');
    this.layers = element.querySelector('.layers');
    this.error = part('error');
    this.reset = part('reset');
    this.durationButton = part('for');
    this.explain = part('explain');
    this.star = part('star');
    this.star.ariaPressed = favorites.has(path);
    this.more = part('more');
    for (const tool of element.querySelectorAll('.tool')) tool.ariaLabel = `${tool.title}: ${this.label}`;
    if (this.reason) element.ariaDescription = this.reason;
    if (this.reason || kind === 'action' || has(this.tweak, 'read-only')) this.durationButton.hidden = true;
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
    orderFocus(this, false);
    for (const name of ['focusin', 'focusout']) {
      on(this.control.element, name, () => orderFocus(this, name === 'focusin'));
    }
    // A figure is only looked at.
    if (!this.reason || has(this.tweak, 'read-only')) return;
    for (const input of this.control.element.querySelectorAll('input, button, select, textarea')) {
      input.disabled = true;
      input.title = this.reason;
    }
    orderFocus(this, false);
  }

  // States ------------------------------------------------------------------------------------------------

  get isTemporary() {
    return this.tweak.layer === 'temporary override';
  }
  get isArmed() {
    return this.nextDuration && !this.isTemporary;
  }
  /** The value after all pending changes. */
  get wanted() {
    const { drag } = this;
    return (drag?.isCanceled ? drag.value : drag?.last) ?? this.sender.wanted ?? this.tweak.value;
  }
  /** Whether typed text was not sent. */
  get isEdited() {
    return [...this.fields].some((field) => field.isEdited());
  }
  /** Whether the row is in use: changes of others must not move its control. */
  get isInUse() {
    return this.drag || this.isEdited || this.isHovered || this.sender.isBusy;
  }

  // Actions -----------------------------------------------------------------------------------------------

  /** Sends a change at once; `job` has the typed text, or the ID of the drag that it ends. */
  send(change, job = {}) {
    if (this.nextDuration && 'value' in change) change = { ...change, for: this.nextDuration };
    for (const field of this.fields) field.sent = field.value;
    this.meaning = '';
    this.sender.push({ ...job, change, settled: true });
  }

  /** Handles a press of a tool button. */
  act(part) {
    if (part === 'reset' && isOverridden(this.tweak) && !this.reason) this.send({ reset: true });
    if (part === 'for' && this.durationButton.hidden) return;
    if (part === 'for' && this.isArmed) this.arm('');
    else if (part === 'for') openDurationMenu(this, this.#shown(this.durationButton));
    if (part === 'explain') toggleLayers(this);
    if (part === 'star') this.#toggleFavorite();
    if (part === 'more') openRowMenu(this, this.more);
  }

  /** A tool, or the menu where the tools are not shown. */
  #shown(tool) {
    return tool.checkVisibility() ? tool : this.more;
  }

  /** Makes the following changes temporary, until such a value expires; permanent for an empty duration. */
  arm(span) {
    this.nextDuration = span;
    this.draw();
    const kind = span ? `temporary, for ${span}; press Escape to cancel` : 'permanent';
    announce(`changes of ${this.label} are ${kind}`);
  }

  #toggleFavorite() {
    const { path } = this.tweak;
    if (!favorites.delete(path)) favorites.add(path);
    store('favorites', [...favorites]);
    this.star.setAttribute('aria-pressed', favorites.has(path));
    emit('favorites');
  }

  // Events ------------------------------------------------------------------------------------------------

  /** Handles a changed value. */
  changed(event, isMine) {
    if (!isMine) {
      this.meaning = '';
      this.editing?.follow(this);
      this.flash(event.by);
      if (this.isInUse) this.ghost = { by: event.by, value: event.value ?? this.tweak.value };
    }
    if (isMine) this.#fade();
    if (isMine && !this.drag) this.ghost = null;
    if (isMine || !this.isInUse) this.stale = isMine ? 'mine' : 'other';
    if (!this.layers.hidden) refreshSoon(this.tweak.path);
    drawSoon(this.tweak.path);
  }

  /** Shows the current value once the row is no longer in use. */
  release() {
    if (this.isInUse) return;
    this.ghost = null;
    this.control.show(this.tweak.value);
    this.draw();
  }

  /** Shows the origin of a change for a few seconds. */
  flash(by) {
    if (!by) return;
    this.flashed = by;
    this.element.classList.remove('touched');
    requestAnimationFrame(() => this.element.classList.toggle('touched', Boolean(this.flashed)));
    clearTimeout(this.fading);
    this.fading = setTimeout(() => this.#fade(), 4000);
    drawSoon(this.tweak.path);
  }

  /** Ends the display of the origin. */
  #fade() {
    clearTimeout(this.fading);
    this.flashed = '';
    this.element.classList.remove('touched');
    drawSoon(this.tweak.path);
  }

  /** Shows and announces the value of a typed expression. */
  showMeaning(text) {
    this.meaning = meaningOf(text, this.tweak);
    if (this.meaning) announce(this.meaning);
  }

  accepted(reply, job) {
    accepted(this, reply, job);
  }
  failed(error, job) {
    failed(this, error, job);
  }
  showLayers(reply) {
    drawLayers(this, reply);
  }

  // Drawing -----------------------------------------------------------------------------------------------

  /** Shows an error; an empty text clears it. */
  showError(text) {
    this.error.hidden = !text;
    this.error.textContent = clean(text);
    this.control.refused?.(clean(text));
  }

  draw() {
    const { tweak } = this;
    if (has(tweak, 'read-only')) return this.control.show(tweak.value);
    this.#showStale();
    this.element.toggleAttribute('data-modified', tweak.modified);
    if (this.wasTemporary && !this.isTemporary) this.nextDuration = '';
    this.wasTemporary = this.isTemporary;
    this.#drawTools();
    drawNotes(this);
    this.control.mark?.(this.ghost?.value ?? otherValue(tweak));
    drawBadges(this);
    emit('drawn', this);
    const isDoubtful = tweak.conflict || has(tweak, 'needs-restart') && !restarts.has(tweak.path);
    if (isDoubtful && isOverridden(tweak) && this.remark === '') queueCheck(this);
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
    this.durationButton.ariaPressed = this.isArmed ? 'true' : null;
    const label = this.isArmed ? 'Make changes permanent again' : 'Make changes temporary';
    this.durationButton.title = this.isArmed ? label + ' (Escape)' : label;
    this.durationButton.ariaLabel = `${label}: ${this.label}`;
  }
}

/** The row of a tweak, created on first use. */
export function rowOf(path) {
  let row = rows.get(path);
  if (!row && tweaks.has(path)) rows.set(path, row = new Row(tweaks.get(path)));
  return row;
}
