/** How many drives of a type sit in a node: free ones, or those an array has. */
export interface Stock {
  readonly type: string;
  readonly zone: string;
  readonly node: string;
  readonly count: number;
}

export interface WantedDrives {
  readonly type: string;
  readonly policy: string | null;
  readonly count: number;
}

/** One drive to take: any free one of the type in the node. */
export interface Pick {
  readonly type: string;
  readonly node: string;
  readonly policy: string | null;
}

export interface Shortage {
  readonly type: string;
  readonly wanted: number;
  readonly available: number;
  /** Ready to follow "are free": empty, or such as ` in zone zone_1`. */
  readonly where: string;
}

export type Plan = { readonly picks: readonly Pick[] } | { readonly shortage: Shortage };

interface Order {
  readonly wanted: readonly WantedDrives[];
  readonly free: readonly Stock[];
  /** What the array has already. */
  readonly held: readonly Stock[];
}

/** The zone an order fits in that has most of what it asks for, and the drives to take there. */
export function planInOneZone(order: Order, zones: readonly string[]): Plan & { readonly zone?: string } {
  const byFreedom = zones
    .map((zone) => ({ zone, free: order.free.filter((stock) => stock.zone === zone) }))
    .toSorted((a, b) => sum(b.free) - sum(a.free));
  for (const { zone, free } of byFreedom) {
    const plan = planOver({ ...order, free }, 'within');
    if ('picks' in plan) return { ...plan, zone };
  }
  return { shortage: shortageInEveryZone(order.wanted, byFreedom) };
}

export function planInZone(order: Order, zone: string): Plan {
  const free = order.free.filter((stock) => stock.zone === zone);
  const plan = planOver({ ...order, free }, 'within');
  return 'shortage' in plan ? { shortage: { ...plan.shortage, where: ` in zone ${zone}` } } : plan;
}

/** Zone after zone in turn, so that losing one loses as few drives as can be. */
export function planOverZones(order: Order): Plan {
  return planOver(order, 'over');
}

/** Takes one drive at a time from where the array has fewest: from the zone first (`over`), then from the node. */
function planOver({ wanted, free, held }: Order, zones: 'within' | 'over'): Plan {
  for (const [type, count] of totals(wanted)) {
    const available = sum(free.filter((stock) => stock.type === type));
    if (available < count) return { shortage: { type, wanted: count, available, where: '' } };
  }
  const left = free.map((stock) => ({ ...stock }));
  const inZone = countBy(held, ({ zone }) => zone);
  const inNode = countBy(held, ({ node }) => node);
  const picks: Pick[] = [];
  for (const { type, policy, count } of wanted) {
    for (let n = 0; n < count; n += 1) {
      const best = left
        .filter((stock) => stock.type === type && stock.count > 0)
        .reduce((a, b) => (isBetter(b, a) ? b : a));
      best.count -= 1;
      increment(inZone, best.zone);
      increment(inNode, best.node);
      picks.push({ type, node: best.node, policy });
    }
  }
  return { picks };

  function isBetter(a: Stock, b: Stock): boolean {
    const byZone = zones === 'over' ? (inZone.get(a.zone) ?? 0) - (inZone.get(b.zone) ?? 0) : 0;
    const byNode = (inNode.get(a.node) ?? 0) - (inNode.get(b.node) ?? 0);
    return (byZone || byNode || b.count - a.count) < 0;
  }
}

function shortageInEveryZone(
  wanted: readonly WantedDrives[],
  zones: readonly { zone: string; free: readonly Stock[] }[],
): Shortage {
  const count = (free: readonly Stock[], type: string) => sum(free.filter((stock) => stock.type === type));
  for (const [type, needed] of totals(wanted)) {
    const available = Math.max(...zones.map(({ free }) => count(free, type)));
    if (available < needed) return { type, wanted: needed, available, where: ' in any one zone' };
  }
  // Each type fits somewhere, but not all in the same zone: tell of the zone that comes closest.
  const { zone = '', free = [] } = zones[0] ?? {};
  const [type, needed] = totals(wanted).find(([key, n]) => count(free, key) < n) as [string, number];
  return { type, wanted: needed, available: count(free, type), where: ` in zone ${zone}` };
}

function totals(wanted: readonly WantedDrives[]): [string, number][] {
  const byType = new Map<string, number>();
  for (const { type, count } of wanted) byType.set(type, (byType.get(type) ?? 0) + count);
  return [...byType].filter(([, count]) => count > 0);
}

function sum(stock: readonly Stock[]): number {
  return stock.reduce((total, { count }) => total + count, 0);
}

function countBy(stock: readonly Stock[], keyOf: (stock: Stock) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of stock) counts.set(keyOf(one), (counts.get(keyOf(one)) ?? 0) + one.count);
  return counts;
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
