/** ASN.1 in DER, as far as X.509 certificates need it. Every function returns one whole element. */

const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;
/** UTCTime has two digits for the year: RFC 5280 uses it up to 2049. */
const UTC_TIME_YEAR_MAX = 2049;

export function element(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content), content]);
}

function lengthOf({ length }: Uint8Array): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const digits = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([0x80 | digits.length]), digits]);
}

export function sequence(...items: readonly Uint8Array[]): Buffer {
  return element(TAGS.sequence, Buffer.concat(items));
}

export function set(...items: readonly Uint8Array[]): Buffer {
  return element(TAGS.set, Buffer.concat(items));
}

/** A number that is not negative, most significant byte first. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? Buffer.from([0]) : Buffer.from(bytes.subarray(first));
  const isSigned = (digits[0] as number) >= 0x80;
  return element(TAGS.integer, isSigned ? Buffer.concat([Buffer.from([0]), digits]) : digits);
}

export function boolean(value: boolean): Buffer {
  return element(TAGS.boolean, Buffer.from([value ? 0xff : 0]));
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return element(TAGS.bitString, Buffer.concat([Buffer.from([unusedBits]), bytes]));
}

export function octetString(bytes: Uint8Array): Buffer {
  return element(TAGS.octetString, bytes);
}

export function utf8(text: string): Buffer {
  return element(TAGS.utf8, Buffer.from(text));
}

/** `1.2.840.10045.4.3.2` */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(TAGS.oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}

export function time(ms: number): Buffer {
  const date = new Date(ms);
  const digits = date.toISOString().replace(/\.\d+|[-:T]/g, '');
  const isShort = date.getUTCFullYear() <= UTC_TIME_YEAR_MAX;
  return element(
    isShort ? TAGS.utcTime : TAGS.generalizedTime,
    Buffer.from(isShort ? digits.slice(2) : digits, 'latin1'),
  );
}

/** Stands around a whole element. */
export function explicit(number: number, content: Uint8Array): Buffer {
  return element(CONTEXT | CONSTRUCTED | number, content);
}

/** Stands in place of a primitive element's own tag. */
export function implicit(number: number, content: Uint8Array): Buffer {
  return element(CONTEXT | number, content);
}
