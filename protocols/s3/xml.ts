const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';
const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';
/** Carriage returns and controls would not come back as they were. */
const SPECIAL = /[&<>"\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff]/;
const SPECIALS = new RegExp(SPECIAL, 'g');

export function needsEscape(text: string): boolean {
  return SPECIAL.test(text);
}

/** Text inside an element or attribute. */
export function escapeXml(text: string): string {
  return needsEscape(text) ? text.replace(SPECIALS, escapeCharacter) : text;
}

function escapeCharacter(character: string): string {
  if (character === '&') return '&amp;';
  if (character === '<') return '&lt;';
  if (character === '>') return '&gt;';
  if (character === '"') return '&quot;';
  return `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`;
}

/** `<name>value</name>`, or nothing without a value. */
export function field(name: string, value: string | number | boolean | null | undefined): string {
  if (value === undefined || value === null) return '';
  return `<${name}>${typeof value === 'string' ? escapeXml(value) : value}</${name}>`;
}

/** An element around what is XML already. */
export function element(name: string, inner: string, attributes = ''): string {
  return `<${name}${attributes}>${inner}</${name}>`;
}

/** A whole document of S3. */
export function xmlDocument(root: string, inner: string): string {
  return xmlPieces(root, [inner]).join('');
}

/** The same of what is in pieces. */
export function xmlPieces(root: string, inner: readonly string[]): string[] {
  return [`${DECLARATION}<${root} xmlns="${NAMESPACE}">`, ...inner, `</${root}>`];
}

/** Errors have no namespace. */
export function errorDocument(inner: string): string {
  return `${DECLARATION}<Error>${inner}</Error>`;
}
