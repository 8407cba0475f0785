import { formatUtc } from '@granary/kernel';
import { nanosText, wholeCentsText, type Shares } from './amount.ts';
import { Totals } from './bill.ts';
import type { Summary, Sums } from './summary.ts';

/** Parts are as fine as lines of a bill; the whole is in cents, and what the bill of this time asks for. */
export function summaryView({ arrays, periods }: Summary) {
  const whole = new Map<string, Shares>();
  const totals = new Totals();
  for (const [array, sums] of arrays) totals.add({ array, amount: total(sums) });
  for (const sums of arrays.values())
    for (const [kind, amount] of sums) whole.set(kind, (whole.get(kind) ?? 0n) + amount);
  return {
    currency: 'USD',
    amount: wholeCentsText(totals.cents),
    kinds: kindsView(whole),
    arrays: [...arrays].map(([array, sums]) => ({
      array_id: array.id,
      name: array.name,
      user: array.owner,
      provider: array.providerName,
      deleted: array.deletedAt !== null,
      amount: nanosText(total(sums)),
      kinds: kindsView(sums),
    })),
    periods: periods.map(({ from, kinds }) => ({
      from: formatUtc(from),
      amount: nanosText(total(kinds)),
      kinds: kindsView(kinds),
    })),
  };
}

function total(sums: Sums): Shares {
  return sums.values().reduce((sum, amount) => sum + amount, 0n);
}

function kindsView(sums: Sums): Record<string, string> {
  return Object.fromEntries([...sums].map(([kind, amount]) => [kind, nanosText(amount)]));
}
