/** A price as the portal lists it. */
export interface DatedPrice {
  readonly kind: string;
  readonly key: string;
  readonly hourly_price_usd: string;
  readonly effective_from: string;
  readonly state: 'past' | 'present' | 'planned';
}

/** An item with what it costs, cost and will cost. */
export interface PricedItem {
  readonly kind: string;
  readonly key: string;
  readonly present: DatedPrice | undefined;
  readonly planned: readonly DatedPrice[];
  /** Oldest first, the present and the planned ones included. */
  readonly all: readonly DatedPrice[];
}

const ORDER = ['engine', 'app_engine', 'drive', 'cache_gb', 'encryption', 'public_ip', 'proxy', 'public_objs'];

/** The items of a provider, by kind in the order people think of them. */
export function itemsOf(prices: readonly DatedPrice[]): PricedItem[] {
  const byItem = Map.groupBy(prices, ({ kind, key }) => `${kind}:${key}`);
  const items = [...byItem.values()].map((all) => {
    const [{ kind, key }] = all as [DatedPrice];
    const sorted = all.toSorted((a, b) => (a.effective_from < b.effective_from ? -1 : 1));
    return {
      kind,
      key,
      present: sorted.find(({ state }) => state === 'present'),
      planned: sorted.filter(({ state }) => state === 'planned'),
      all: sorted,
    };
  });
  return items.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || (a.key < b.key ? -1 : 1));
}

/** What an hour costs now, by `kind:key`. */
export function presentPrices(prices: readonly DatedPrice[]): ReadonlyMap<string, number> {
  const present = prices.filter(({ state }) => state === 'present');
  return new Map(present.map(({ kind, key, hourly_price_usd: price }) => [`${kind}:${key}`, Number(price)]));
}

/** Points of a line that holds its value until the next change. Seconds since 1970. */
export function steps(
  all: readonly { readonly at: number; readonly price: number }[],
  until: number,
): { readonly times: number[]; readonly values: number[] } {
  const times: number[] = [];
  const values: number[] = [];
  for (const [index, { at, price }] of all.entries()) {
    const before = values.at(-1);
    if (index > 0 && before !== undefined) {
      times.push(at - 1);
      values.push(before);
    }
    times.push(at);
    values.push(price);
  }
  const last = values.at(-1);
  if (last !== undefined && (times.at(-1) ?? 0) < until) {
    times.push(until);
    values.push(last);
  }
  return { times, values };
}

/** A moment the viewer chose, `2027-01-01T09:30` in the viewer's zone, as the API takes it: to the minute, in UTC. */
export function utcMinute(local: string): string | undefined {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, 16).replace('T', ' ');
}
