/** What a logical unit says when a command did not end well. */
export interface Sense {
  readonly key: number;
  /** Additional sense code and its qualifier. */
  readonly asc: number;
  readonly ascq: number;
  /** About an earlier command, not this one. */
  readonly deferred: boolean;
  readonly information: number | undefined;
  /** Where the bad byte stands, when the unit says so. */
  readonly fieldPointer: number | undefined;
  readonly text: string;
}

const KEYS = [
  'no sense',
  'recovered error',
  'not ready',
  'medium error',
  'hardware error',
  'illegal request',
  'unit attention',
  'data protect',
  'blank check',
  'vendor specific',
  'copy aborted',
  'aborted command',
  'reserved',
  'volume overflow',
  'miscompare',
  'completed',
];

/** Reads both forms of sense data, fixed and descriptor. */
export function decodeSense(bytes: Buffer): Sense | undefined {
  const form = (bytes[0] ?? 0) & 0x7f;
  if (form === 0x70 || form === 0x71) return decodeFixed(bytes, form === 0x71);
  if (form === 0x72 || form === 0x73) return decodeDescriptors(bytes, form === 0x73);
  return undefined;
}

function decodeFixed(bytes: Buffer, deferred: boolean): Sense {
  const valid = ((bytes[0] ?? 0) & 0x80) !== 0;
  return makeSense(
    bytes[2] ?? 0,
    bytes[12] ?? 0,
    bytes[13] ?? 0,
    deferred,
    valid && bytes.length >= 7 ? bytes.readUInt32BE(3) : undefined,
    bytes.length >= 18 ? fieldPointerIn(bytes, 15) : undefined,
  );
}

function decodeDescriptors(bytes: Buffer, deferred: boolean): Sense {
  let information: number | undefined;
  let fieldPointer: number | undefined;
  for (let at = 8; at + 2 <= bytes.length; at += 2 + (bytes[at + 1] ?? 0)) {
    if (bytes[at] === 0 && at + 12 <= bytes.length) information = Number(bytes.readBigUInt64BE(at + 4));
    if (bytes[at] === 2 && at + 7 <= bytes.length) fieldPointer = fieldPointerIn(bytes, at + 4);
  }
  return makeSense(bytes[1] ?? 0, bytes[2] ?? 0, bytes[3] ?? 0, deferred, information, fieldPointer);
}

function fieldPointerIn(bytes: Buffer, at: number): number | undefined {
  return ((bytes[at] ?? 0) & 0x80) === 0 ? undefined : bytes.readUInt16BE(at + 1);
}

function makeSense(
  keyByte: number,
  asc: number,
  ascq: number,
  deferred: boolean,
  information: number | undefined,
  fieldPointer: number | undefined,
): Sense {
  const key = keyByte & 15;
  const text = `${KEYS[key] ?? 'unknown'} ${hex(asc)}/${hex(ascq)}${deferred ? ' (deferred)' : ''}`;
  return { key, asc, ascq, deferred, information, fieldPointer, text };
}

function hex(value: number): string {
  return value.toString(16).padStart(2, '0');
}
