// Stores settings of this browser: favorites, folded collections, recent colors.

import { isMounted, prefix } from './site.js';

/** Whether this address belongs to this panel alone. */
export const isOwnAddress = !isMounted && /^[a-z2-7]{26}\.localhost$/.test(location.hostname);
/** Whether settings are stored: not at an address that another program may have later. */
export const isStored = isOwnAddress || isMounted;

export function stored(key, fallback) {
  if (!isStored) return fallback;
  try {
    return JSON.parse(localStorage.getItem(prefix + key)) ?? fallback;
  } catch {
    return fallback;
  }
}

export function store(key, value) {
  if (!isStored) return;
  try {
    localStorage.setItem(prefix + key, JSON.stringify(value));
  } catch { /* full, or forbidden */ }
}
