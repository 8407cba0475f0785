import { usageFailure } from '../exit.ts';

const UNITS: Readonly<Record<string, number>> = { '': 2 ** 30, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** `512M`, `10G`, `2T`; a bare number is in GB, as everywhere. */
export function readSize(text: string, flag: string, bytesMax: number): number {
  const [, digits, unit = ''] = /^(\d{1,6})([MGT]?)$/i.exec(text) ?? [];
  const bytes = Number(digits) * (UNITS[unit.toUpperCase()] ?? NaN);
  if (!(bytes > 0)) throw usageFailure(`${flag} must be a size such as 512M, 10G or 2T, not ${text}.`);
  if (bytes > bytesMax) throw usageFailure(`${flag} can be at most ${sizeText(bytesMax)}, not ${text}.`);
  return bytes;
}

/** In the largest unit that keeps it whole; megabytes are rounded down. */
export function sizeText(bytes: number): string {
  const unit = bytes > 0 ? ['T', 'G'].find((name) => bytes % (UNITS[name] ?? NaN) === 0) : undefined;
  return unit ? `${bytes / (UNITS[unit] ?? NaN)}${unit}` : `${Math.floor(bytes / 2 ** 20)}M`;
}
