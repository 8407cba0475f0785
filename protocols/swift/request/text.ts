import { SwiftRefusal } from './refusal.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const BAD_TEXT = 'Invalid UTF8 or contains NULL';

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 65 && code <= 70) return code - 55;
  if (code >= 97 && code <= 102) return code - 87;
  return -1;
}

/** Bytes as UTF-8 without NUL; anything else is refused, because it could not be returned as it came. */
export function strictText(bytes: Uint8Array): string {
  let text: string;
  try {
    text = strict.decode(bytes);
  } catch {
    throw new SwiftRefusal(412, BAD_TEXT);
  }
  if (text.includes('\0')) throw new SwiftRefusal(412, BAD_TEXT);
  return text;
}

/** Node gives bytes of headers and addresses as Latin-1. */
function isPlain(raw: string): boolean {
  return /^[\x01-\x7e]*$/.test(raw);
}

/** Undoes percent-encoding once. A `%` without two hex digits stands for itself. */
export function percentDecode(raw: string): string {
  if (!raw.includes('%')) return isPlain(raw) ? raw : strictText(Buffer.from(raw, 'latin1'));
  const bytes = Buffer.from(raw, 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at] ?? 0;
    if (byte === 0x25) {
      const high = hexDigit(bytes[at + 1] ?? 0);
      const low = hexDigit(bytes[at + 2] ?? 0);
      if (high >= 0 && low >= 0) {
        byte = high * 16 + low;
        at += 2;
      }
    }
    bytes[length++] = byte;
  }
  return strictText(bytes.subarray(0, length));
}

/** The value of a header as the client meant it: UTF-8, though Node reads Latin-1. */
export function headerText(raw: string): string {
  return isPlain(raw) ? raw : strictText(Buffer.from(raw, 'latin1'));
}

/** The other way round. Control characters cannot stand in a header; metadata put through other protocols may have them. */
export function headerValue(text: string): string {
  const visible = text.replace(/[\x00-\x08\x0a-\x1f\x7f]/g, ' ');
  return isPlain(visible) ? visible : Buffer.from(visible, 'utf8').toString('latin1');
}

/** `x-object-meta-foo-bar` is shown as `X-Object-Meta-Foo-Bar`. */
export function titleCase(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_all, dash: string, letter: string) => dash + letter.toUpperCase());
}

export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** As addresses have it: everything but letters, digits and `-_.~/` is percent-encoded. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/%2F/g, '/');
}

export function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(true|1|yes|on|t|y)$/i.test(value.trim());
}
