/**
 * What is billed is counted in whole shares, so that it is exact. A GB is 2³⁰ bytes. A GB-month is a GB for as long as
 * the month it is stored in really lasts; months have 28 to 31 days, so a share of a GB-month is small enough to be
 * part of all of them. A GB that is moved has as many shares, and prices are whole billionths: so every charge is a
 * whole number, sums are exact, and the report of a month is the sum of those of its days.
 *
 * Rounding happens once, where a number is shown: half up, at the ninth decimal.
 */
export type Shares = bigint;

/** Shares times billionths of the currency. */
export type Charge = bigint;

export type Nanos = bigint;

/** The least number of days that 28, 29, 30 and 31 are all parts of. */
const DAYS_IN_COMMON = 377_580n;
const DAY_MS = 86_400_000n;
const SHARES_PER_BYTE = DAYS_IN_COMMON * DAY_MS;
const SHARES_PER_GB = 2n ** 30n * SHARES_PER_BYTE;
const DECIMALS = 9;
const NANOS = 10n ** BigInt(DECIMALS);

export function movedShares(bytes: number): Shares {
  return BigInt(bytes) * SHARES_PER_BYTE;
}

/** Of what was stored within a month of so many days. */
export function storedShares(byteMilliseconds: bigint, daysOfMonth: number): Shares {
  return byteMilliseconds * (DAYS_IN_COMMON / BigInt(daysOfMonth));
}

/** A price as it was written: billionths of the currency. */
export function nanosOf(price: string | number): Nanos {
  const [whole = '0', fraction = ''] = (typeof price === 'number' ? price.toFixed(DECIMALS) : price).split('.');
  return BigInt(whole + fraction.slice(0, DECIMALS).padEnd(DECIMALS, '0'));
}

/** GB, or GB-months. */
export function unitsShown(shares: Shares): number {
  return shown(rounded(shares * NANOS, SHARES_PER_GB));
}

export function amountShown(charge: Charge): number {
  return shown(rounded(charge, SHARES_PER_GB));
}

/** The divisor is even, so its half is exact. */
function rounded(value: bigint, divisor: bigint): bigint {
  return (value + divisor / 2n) / divisor;
}

function shown(nanos: bigint): number {
  return Number(`${nanos / NANOS}.${(nanos % NANOS).toString().padStart(DECIMALS, '0')}`);
}
