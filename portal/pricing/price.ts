/**
 * A price is exact decimal text from end to end, in USD an hour. What was written is what is stored and shown
 * (`0.50` stays `0.50`); two texts are the same price when they are the same number.
 */
export const PRICE_FORM = /^[0-9]{1,9}(\.[0-9]{1,9})?$/;

const DECIMALS_MAX = 9;

/** Billionths of a dollar: every price is a whole number of them. */
export type Nanos = bigint;

export function isPrice(text: string): boolean {
  return PRICE_FORM.test(text);
}

export function priceNanos(price: string): Nanos {
  if (!isPrice(price)) throw new RangeError(`Not a price: ${price}`);
  const [whole = '', fraction = ''] = price.split('.');
  return BigInt(whole + fraction.padEnd(DECIMALS_MAX, '0'));
}

export function samePrice(one: string, other: string): boolean {
  return priceNanos(one) === priceNanos(other);
}
