import { XML_DECLARATION, xmlEscaper } from '@granary/kernel/xml';

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';
/** S3 writes carriage returns and control characters as references, so that names of objects survive the way. */
const SPECIAL = /[&<>"\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff]/;

export function needsEscape(text: string): boolean {
  return SPECIAL.test(text);
}

/** Text inside an element or attribute. */
export const escapeXml = xmlEscaper(
  SPECIAL,
  (character) => `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`,
);

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
  return [`${XML_DECLARATION}<${root} xmlns="${NAMESPACE}">`, ...inner, `</${root}>`];
}

/** Errors have no namespace. */
export function errorDocument(inner: string): string {
  return `${XML_DECLARATION}<Error>${inner}</Error>`;
}
