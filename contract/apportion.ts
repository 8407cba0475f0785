/**
 * Amounts in whole units (cents, say) for exact parts, such that the amounts add up to the total that is shown beside
 * them. Rounding each part alone does not: three of 1/3 are 0.33 each, beside 1.00. The total is rounded half up from
 * the exact sum, unless it is given; each part is rounded down, and what is missing goes, a unit each, to those that
 * lost most by it (the method of largest remainders), the first of equals first. So each amount is less than one unit
 * from its part, nothing stays nothing, and a larger part never has the smaller amount.
 */
export function apportioned(parts: readonly bigint[], unit: bigint, total = roundedSum(parts, unit)): bigint[] {
  const amounts = parts.map((part) => part / unit);
  const order = [...parts.keys()].sort((one, other) => compare(lost(parts, other, unit), lost(parts, one, unit)));
  const missing = Number(total - amounts.reduce((sum, amount) => sum + amount, 0n));
  for (const index of order.slice(0, Math.max(0, missing))) amounts[index] = (amounts[index] ?? 0n) + 1n;
  return amounts;
}

export function roundedSum(parts: readonly bigint[], unit: bigint): bigint {
  return (parts.reduce((sum, part) => sum + part, 0n) + unit / 2n) / unit;
}

function lost(parts: readonly bigint[], index: number, unit: bigint): bigint {
  return (parts[index] ?? 0n) % unit;
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other);
}
