const utf8 = new TextDecoder('utf-8', { fatal: true });
const PLAIN = /^[\u0020-\u007e]*$/;

/** Node gives each byte of a header as a character. What is UTF-8 is kept as the text it means; so does Swift. */
export function textOfHeader(value: string): string {
  if (PLAIN.test(value)) return value;
  try {
    return utf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

/** The way back. What would end the header early becomes a space. */
export function headerOfText(text: string): string {
  if (PLAIN.test(text)) return text;
  return Buffer.from(text.replace(/[\u0000-\u0008\u000a-\u001f\u007f]/g, ' '), 'utf8').toString('latin1');
}
