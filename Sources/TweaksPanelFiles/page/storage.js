// Stores settings of this browser: favorites, folded collections, recent colors.

/** Whether this address belongs to this panel alone. At others nothing is stored. */
export const isOwnAddress = /^[a-z2-7]{26}\.localhost$/.test(location.hostname);

export function stored(key, fallback) {
  if (!isOwnAddress) return fallback;
  try {
    return JSON.parse(localStorage.getItem('tweaks.' + key)) ?? fallback;
  } catch {
    return fallback;
  }
}

export function store(key, value) {
  if (!isOwnAddress) return;
  try {
    localStorage.setItem('tweaks.' + key, JSON.stringify(value));
  } catch { /* full, or forbidden */ }
}
