import { ProtocolError } from '../pdu/receiver.ts';

export type TextPairs = Map<string, string>;

const KEY = /^[A-Za-z][A-Za-z0-9.+@_-]{0,62}$/;
const VALUE_LENGTH_MAX = 8192;
const PAIRS_MAX = 128;

/** Reads `key=value` pairs, each ended by a zero byte. */
export function decodeText(bytes: Buffer): TextPairs {
  const pairs: TextPairs = new Map();
  for (const piece of bytes.toString('latin1').split('\0')) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const key = piece.slice(0, equals);
    const value = piece.slice(equals + 1);
    if (equals < 0 || !KEY.test(key)) throw new ProtocolError('text is not made of key=value pairs');
    if (value.length > VALUE_LENGTH_MAX) throw new ProtocolError(`the value of ${key} is too long`);
    if (pairs.has(key)) throw new ProtocolError(`${key} is given twice`);
    if (pairs.size === PAIRS_MAX) throw new ProtocolError(`more than ${PAIRS_MAX} keys at once`);
    pairs.set(key, Buffer.from(value, 'latin1').toString('utf8'));
  }
  return pairs;
}

export function encodeText(pairs: Iterable<readonly [string, string]>): Buffer {
  let text = '';
  for (const [key, value] of pairs) text += `${key}=${value}\0`;
  return Buffer.from(text, 'utf8');
}

/** A binary value: hexadecimal behind `0x`, base64 behind `0b`. `undefined` when it is neither. */
export function decodeBinary(value: string): Buffer | undefined {
  const digits = value.slice(2);
  if (/^0[xX]/.test(value)) {
    if (!/^[0-9a-fA-F]+$/.test(digits)) return undefined;
    return Buffer.from(digits.length % 2 === 1 ? `0${digits}` : digits, 'hex');
  }
  if (/^0[bB]/.test(value)) {
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(digits)) return undefined;
    return Buffer.from(digits, 'base64');
  }
  return undefined;
}

export function encodeBinary(bytes: Buffer): string {
  return `0x${bytes.toString('hex')}`;
}
