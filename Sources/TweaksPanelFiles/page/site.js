// Knows whether the page is a part of a program's own site, which signs in its users and shares its storage.

/** Whether a router of the program has the page; otherwise it has an address of its own. */
export const isMounted = 'mounted' in document.documentElement.dataset;

/**
 * What the path of each request follows: where the page is, without its last slash. It names the origin: the
 * address may have the user's name and password, and requests must not.
 */
export const base = isMounted
  ? location.origin + location.pathname.slice(0, location.pathname.lastIndexOf('/'))
  : '';

/** What the names of stored settings begin with: other pages of the site, also panels, have their own. */
export const prefix = isMounted ? 'tweaks' + location.pathname : 'tweaks.';

/** Whether the site has answered in place of the panel, because its user has to sign in. */
export function isOfSite({ status, type, ok, headers }) {
  const format = headers.get('Content-Type') ?? '';
  return isMounted && (
    type === 'opaqueredirect' || status === 401 || status === 403 && !format.startsWith('application/json') ||
    ok && format.startsWith('text/html')
  );
}
