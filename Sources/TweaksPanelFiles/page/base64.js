// Spells bytes in base64, also with the letters that need no escape in an address, and reads them.

export const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
export const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
export const base64url = (bytes) =>
  base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
export const bytesOfURL = (text) => bytesOf(text.replaceAll('-', '+').replaceAll('_', '/'));
