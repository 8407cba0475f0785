import { createHmac, randomBytes } from 'node:crypto';

/*
 * RFC 6238 with what every authenticator app understands: SHA-1, six digits, steps of 30 seconds. A code of the step before
 * or after is right, too, because the clocks of devices differ.
 */

const STEP_MS = 30_000;
const DRIFT_STEPS = 1;
const DIGITS = 6;
const SECRET_BYTES = 20;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A secret as apps take it: 160 bits in base 32. */
export function newTotpSecret(): string {
  return base32(randomBytes(SECRET_BYTES));
}

export function codeOfStep(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', bytesOf(secret)).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 0xf;
  const number = (digest.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, '0');
}

export function stepAt(ms: number): number {
  return Math.floor(ms / STEP_MS);
}

/** The step after `lastStep` that the code is of; undefined when it is wrong or was used. */
export function stepOfCode(secret: string, code: string, nowMs: number, lastStep: number): number | undefined {
  const now = stepAt(nowMs);
  const steps = Array.from({ length: 2 * DRIFT_STEPS + 1 }, (_, index) => now - DRIFT_STEPS + index);
  return steps.find((step) => step > lastStep && codeOfStep(secret, step) === code);
}

/** What apps read as a QR code. */
export function otpauthUri(secret: string, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_MS / 1000}`;
}

export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}

function bytesOf(text: string): Buffer {
  const bits = Array.from(text, (letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
