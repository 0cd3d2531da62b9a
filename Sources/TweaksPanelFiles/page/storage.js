// Stores settings of this browser: favorites, folded collections, recent colors.

export function stored(key, fallback) {
  try {
    return JSON.parse(localStorage.getItem('tweaks.' + key)) ?? fallback;
  } catch {
    return fallback;
  }
}

export function store(key, value) {
  try {
    localStorage.setItem('tweaks.' + key, JSON.stringify(value));
  } catch { /* full, or forbidden */ }
}
