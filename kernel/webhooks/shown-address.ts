const HIDDEN = '…';
/** As services for chats write their tokens into the path: long, of letters and digits. */
const TOKEN = /^(?=.*\d)(?=.*[a-z])[\w.~-]{16,}$/i;

/**
 * Where a webhook goes, for whoever looks after it: the address without what lets others post there. A user, a password,
 * a query and parts of the path that look like a token are left out.
 */
export function shownAddress(url: string): string {
  const { origin, pathname, search } = new URL(url);
  const path = pathname.split('/').map((part) => (TOKEN.test(part) ? HIDDEN : part));
  return `${origin}${path.join('/')}${search === '' ? '' : `?${HIDDEN}`}`;
}
