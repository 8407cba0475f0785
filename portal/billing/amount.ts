import { apportioned } from '@granary/contract/apportion';
import type { Nanos } from '../pricing/price.ts';

/**
 * Money on a bill is counted in whole shares, so that it is exact. Prices are whole billionths of a dollar an hour
 * and times whole milliseconds, so every charge (quantity × milliseconds × billionths) is a whole number of shares
 * of 1/3,600,000,000,000,000 dollar. Sums of shares are exact too: there is no order in which they come out
 * differently, and the bill of a month is the sum of the bills of its days.
 *
 * Rounding happens once, where a number is printed: a line of items.csv half up at the ninth decimal; the amount of a
 * user at a provider half up at the cent, from the exact sum, so that it is the same on the bill of everybody and on
 * that of the user. The whole is the sum of those cents: what is asked for. The cents of a user's arrays add up to the
 * amount of the user (`contract/apportion.ts`), each less than a cent from its own exact sum.
 */
export type Shares = bigint;

const MS_PER_HOUR = 3_600_000n;
const SHARES_PER_NANO = MS_PER_HOUR;
const SHARES_PER_CENT = SHARES_PER_NANO * 10_000_000n;
const NANOS_PER_UNIT = 1_000_000_000n;

export function chargeOf(quantity: number, ms: number, hourlyPrice: Nanos): Shares {
  return BigInt(quantity) * BigInt(ms) * hourlyPrice;
}

export function centsOf(amount: Shares): bigint {
  return divided(amount, SHARES_PER_CENT);
}

/** Cents of parts that add up to the cents of the whole. */
export function centsOfParts(parts: readonly Shares[], whole: bigint): bigint[] {
  return apportioned(parts, SHARES_PER_CENT, whole);
}

/** Dollars with two decimals. */
export function wholeCentsText(cents: bigint): string {
  return decimalText(cents, 2);
}

/** Dollars with nine decimals, as fine as prices are. */
export function nanosText(amount: Shares): string {
  return decimalText(divided(amount, SHARES_PER_NANO), 9);
}

/** Hours with nine decimals: they tell every millisecond apart. */
export function hoursText(ms: number): string {
  return decimalText(divided(BigInt(ms) * NANOS_PER_UNIT, MS_PER_HOUR), 9);
}

/** Rounded half up; the divisor is even, so its half is exact. */
function divided(value: bigint, divisor: bigint): bigint {
  return (value + divisor / 2n) / divisor;
}

function decimalText(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
