import { apportioned, roundedSum } from '@granary/contract/apportion';
import { money } from './format.ts';

/** Amounts and their sum, as texts whose figures add up. */
export interface ShownSum {
  readonly total: string;
  readonly parts: readonly string[];
  /** What one of the parts is made of: it adds up to what is shown of that part. */
  readonly partsOf: (index: number, parts: readonly Amount[]) => readonly string[];
}

type Amount = string | number;

const NANO_DECIMALS = 9;
const CENT_DECIMALS = 2;
const TINY_DIGITS = 4;

/**
 * Money in parts: to cents, or finer where the whole is less than a cent. The total is what the service says, where it
 * says more than nothing; services round to cents what may be less.
 */
export function shownSum(parts: readonly Amount[], total: Amount, currency = 'USD'): ShownSum {
  const nanos = parts.map(nanosOf);
  const exact = nanosOf(total) || nanos.reduce((sum, part) => sum + part, 0n);
  const decimals = decimalsOf(exact);
  return shownIn(nanos, exact, decimals, (text) => money(text, currency));
}

/** Prices of an hour in parts: they are small, and have up to four decimals. */
export function shownRates(parts: readonly number[]): ShownSum {
  const nanos = parts.map(nanosOf);
  const exact = nanos.reduce((sum, part) => sum + part, 0n);
  return shownIn(nanos, exact, RATE_DECIMALS, rateText);
}

const RATE_DECIMALS = 4;

function rateText(amount: string): string {
  return Number(amount).toLocaleString('en', {
    minimumFractionDigits: CENT_DECIMALS,
    maximumFractionDigits: RATE_DECIMALS,
  });
}

function shownIn(
  nanos: readonly bigint[],
  exact: bigint,
  decimals: number,
  textOf: (amount: string) => string,
): ShownSum {
  const unit = 10n ** BigInt(NANO_DECIMALS - decimals);
  const shown = (amount: bigint) => textOf(decimalText(amount, decimals));
  // What costs something is not shown as if it were free.
  const shownPart = (amount: bigint, part = 0n) => (amount === 0n && part !== 0n ? `< ${shown(1n)}` : shown(amount));
  const total = roundedSum([exact], unit);
  const amounts = apportioned(nanos, unit, total);
  return {
    total: shown(total),
    parts: amounts.map((amount, index) => shownPart(amount, nanos[index])),
    partsOf: (index, parts) => {
      const inner = parts.map(nanosOf);
      return apportioned(inner, unit, amounts[index]).map((amount, place) => shownPart(amount, inner[place]));
    },
  };
}

function decimalsOf(nanos: bigint): number {
  const digits = nanos.toString().length;
  const isCents = nanos === 0n || digits > NANO_DECIMALS - CENT_DECIMALS;
  return isCents ? CENT_DECIMALS : Math.min(NANO_DECIMALS, NANO_DECIMALS - digits + TINY_DIGITS);
}

function nanosOf(amount: Amount): bigint {
  const text = typeof amount === 'number' ? amount.toFixed(NANO_DECIMALS) : amount;
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.slice(0, NANO_DECIMALS).padEnd(NANO_DECIMALS, '0'));
}

function decimalText(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
