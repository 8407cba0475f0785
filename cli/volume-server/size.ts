import { usageFailure } from '../exit.ts';

const UNITS: Readonly<Record<string, number>> = { '': 2 ** 30, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** `512M`, `10G`, `2T`; a bare number is in GB, as everywhere. */
export function readSize(text: string, flag: string): number {
  const [, digits, unit = ''] = /^(\d{1,6})([MGT]?)$/i.exec(text) ?? [];
  const bytes = Number(digits) * (UNITS[unit.toUpperCase()] ?? NaN);
  if (bytes > 0) return bytes;
  throw usageFailure(`${flag} must be a size such as 512M, 10G or 2T, not ${text}.`);
}
