export const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** XML 1.0 has no way to write these characters, not even as references. */
export const NO_XML_CHARACTER = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\ufffe\\uffff';

const NAMED: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
]);

/**
 * Escapes text for an element or attribute. `special` matches the characters to replace: those that have a name in every
 * dialect get it, `other` writes the rest, where S3, Swift and the management APIs differ.
 */
export function xmlEscaper(special: RegExp, other: (character: string) => string): (text: string) => string {
  const specials = new RegExp(special, 'g');
  return (text) => (special.test(text) ? text.replace(specials, (found) => NAMED.get(found) ?? other(found)) : text);
}
