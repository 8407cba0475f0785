/**
 * Amounts in whole units (cents, say) for exact parts, such that the amounts add up to the total that is shown beside
 * them. Rounding each part alone does not: three of 1/3 are 0.33 each, beside 1.00. The total is rounded half up from
 * the exact sum, unless it is given; each part is rounded down, and what is missing goes, a unit each, to those that
 * lost most by it (the method of largest remainders), the first of equals first. So each amount is less than one unit
 * from its part, nothing stays nothing, and a larger part never has the smaller amount.
 *
 * A total that is given may be further from the exact sum than units can make up for, as that of amounts which were
 * rounded before is. Then each part has its share of the total, with the remainders as above.
 */
export function apportioned(parts: readonly bigint[], unit: bigint, total = roundedSum(parts, unit)): bigint[] {
  const missing = total - sumOf(parts.map((part) => part / unit));
  const inexact = parts.filter((part) => part % unit !== 0n).length;
  if (missing >= 0n && missing <= inexact) return byRemainders(parts, unit, total);
  const whole = sumOf(parts);
  if (whole === 0n) return [...parts];
  return byRemainders(
    parts.map((part) => part * total),
    whole,
    total,
  );
}

export function roundedSum(parts: readonly bigint[], unit: bigint): bigint {
  return (sumOf(parts) + unit / 2n) / unit;
}

function byRemainders(parts: readonly bigint[], unit: bigint, total: bigint): bigint[] {
  const amounts = parts.map((part) => part / unit);
  const order = [...parts.keys()].sort((one, other) => compare(lost(parts, other, unit), lost(parts, one, unit)));
  const missing = Number(total - sumOf(amounts));
  for (const index of order.slice(0, missing)) amounts[index] = (amounts[index] ?? 0n) + 1n;
  return amounts;
}

function sumOf(parts: readonly bigint[]): bigint {
  return parts.reduce((sum, part) => sum + part, 0n);
}

function lost(parts: readonly bigint[], index: number, unit: bigint): bigint {
  return (parts[index] ?? 0n) % unit;
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other);
}
