const HIDDEN = '…';
/** `granary`, `IncomingWebhook`, `T01`, `v2`, `2026`: tokens mix letters and digits, or are longer than words. */
const WORD = /^(?:[A-Z]?[a-z]{2,15}(?:[A-Z][a-z]{2,15}){0,3}|[A-Z]{2,15}|[A-Za-z])?\d{0,6}$/;

/**
 * Where a webhook goes, for the person who looks after it: the address without what lets others post there. A user, a
 * password and a query are left out, and of the path each part that is not made of words: what looks like nothing known
 * may be a token.
 */
export function shownAddress(url: string): string {
  const { origin, pathname, search } = new URL(url);
  const path = pathname.split('/').map((part) => (isOfWords(part) ? part : HIDDEN));
  return `${origin}${path.join('/')}${search === '' ? '' : `?${HIDDEN}`}`;
}

function isOfWords(part: string): boolean {
  return part.split(/[-_.~]/).every((word) => WORD.test(word));
}
