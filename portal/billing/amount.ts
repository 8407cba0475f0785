import type { Nanos } from '../pricing/price.ts';

/**
 * Money on a bill is counted in whole shares, so that it is exact. Prices are whole billionths of a dollar an hour
 * and times whole milliseconds, so every charge (quantity × milliseconds × billionths) is a whole number of shares
 * of 1/3,600,000,000,000,000 dollar. Sums of shares are exact too: there is no order in which they come out
 * differently, and the bill of a month is the sum of the bills of its days.
 *
 * Rounding happens once, where a number is printed, half up: a line of items.csv at the ninth decimal; the amount of
 * an array, of a user at a provider and of everything at the cent, each from its own exact sum and not from rounded
 * parts. So printed cents may add up to a cent more or less than the printed total, and the total is the right one.
 */
export type Shares = bigint;

const MS_PER_HOUR = 3_600_000n;
const SHARES_PER_DOLLAR = MS_PER_HOUR * 1_000_000_000n;

export function chargeOf(quantity: number, ms: number, hourlyPrice: Nanos): Shares {
  return BigInt(quantity) * BigInt(ms) * hourlyPrice;
}

export function dollarsText(shares: Shares, decimals: number): string {
  return decimalText(shares, SHARES_PER_DOLLAR, decimals);
}

/** Nine decimals tell every millisecond apart. */
export function hoursText(ms: number): string {
  return decimalText(BigInt(ms), MS_PER_HOUR, 9);
}

/** A fraction that is not negative, with so many decimals, the last one rounded half up. */
function decimalText(numerator: bigint, denominator: bigint, decimals: number): string {
  const scaled = (numerator * 10n ** BigInt(decimals) * 2n + denominator) / (denominator * 2n);
  const digits = scaled.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
