// Switches between roomy and compact rows.

import { byId, on, root } from './dom.js';
import { store, stored } from './storage.js';

function show(isCompact) {
  root.dataset.density = isCompact ? 'compact' : 'roomy';
  byId('density').setAttribute('aria-pressed', isCompact);
}

export function toggleDensity() {
  const isCompact = root.dataset.density !== 'compact';
  store('density', isCompact ? 'compact' : 'roomy');
  show(isCompact);
}

show(stored('density', '') === 'compact');
on(byId('density'), 'click', toggleDensity);
