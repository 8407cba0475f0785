/*
 * What is typed into a field for a number or a size. It stays as it was typed; what it means, and what is wrong with it, is
 * said here. Nothing is corrected silently: 0 is not the least that is allowed, and 100M is not 100.
 */

/** What a number may be. */
export interface NumberRange {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly isDecimal?: boolean;
}

/** Undefined: nothing is typed. NaN: it is no number. */
export function typedNumber(text: string): number | undefined {
  const digits = text.trim();
  if (digits === '') return undefined;
  return /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(digits) ? Number(digits) : Number.NaN;
}

/** Why a number cannot be taken, in words. Nothing at all is no problem here: whether it may be left out is of the form. */
export function numberProblem(value: unknown, { min, max, isDecimal = false }: NumberRange): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !(isDecimal ? Number.isFinite(value) : Number.isInteger(value)))
    return isDecimal ? 'Must be a number, such as 12 or 0.5.' : 'Must be a whole number, in digits.';
  if (min !== undefined && value < min) return `Must be at least ${counting.format(min)}.`;
  if (max !== undefined && value > max) return `Must be at most ${counting.format(max)}.`;
  return undefined;
}

const counting = new Intl.NumberFormat('en', { maximumFractionDigits: 9 });

/** As the services read it: GB are GiB, and a number alone is one of them. */
const SIZE = /^(\d{1,12}(?:\.\d{1,12})?)\s*(?:([MGT])(?:i?B)?)?$/i;
const MB_IN: Readonly<Record<string, number>> = { M: 1, G: 1024, T: 1024 * 1024 };
/** A PiB: more than any array has. */
const MB_MAX = 2 ** 30;

/** In MiB. Undefined: nothing is typed. NaN: it is no size. */
export function typedSize(text: string): number | undefined {
  const size = text.trim();
  if (size === '') return undefined;
  const [whole, amount, unit = 'G'] = SIZE.exec(size) ?? [];
  return whole === undefined ? Number.NaN : Math.ceil(Number(amount) * (MB_IN[unit.toUpperCase()] as number));
}

/** Why a size in MiB cannot be taken, in words. */
export function sizeProblem(value: number | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (!Number.isFinite(value)) return 'Must be a size, such as 500G, 2 TiB or 100M; a number alone is GiB.';
  return value > MB_MAX ? 'Must be at most 1024 TiB.' : undefined;
}
