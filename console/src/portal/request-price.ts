import { HOURS_A_MONTH, money } from '../parts/format.ts';
import { shownRates } from '../parts/sums.ts';

interface Asked {
  readonly kind: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What stands behind the price of a request of this kind; of the other kinds nothing has a price. */
const SUFFIXES: Readonly<Record<string, string>> = {
  create_array: '',
  add_drives: ' more',
  add_storage_policy: ' more',
  add_proxy_controller: ' more',
  change_engine: ' for the engines it has then',
  change_cache: ' for the cache it has then',
};

/** Whether there is a price to look up. */
export function hasPrice({ kind }: Pick<Asked, 'kind'>): boolean {
  return kind in SUFFIXES;
}

/**
 * `0.12 USD per hour, about 87.60 USD a month`: what the portal will bill for what a request asks for. `prices`: of an
 * hour at its provider, by `kind:key`. Undefined where one of them is not known.
 */
export function priceWords(request: Asked, prices: ReadonlyMap<string, number>): string | undefined {
  const suffix = SUFFIXES[request.kind];
  const costs = itemsOf(request).map(([item, quantity]) => quantity * (prices.get(item) ?? Number.NaN));
  const hourly = costs.reduce((sum, cost) => sum + cost, 0);
  if (suffix === undefined || costs.length === 0 || Number.isNaN(hourly)) return undefined;
  return `${shownRates(costs).total} USD per hour${suffix}, about ${money(hourly * HOURS_A_MONTH)} a month`;
}

function itemsOf({ kind, arguments: given }: Asked): (readonly [string, number])[] {
  const { change, ...others } = given;
  const all = { ...others, ...(change as object | undefined) } as Record<string, unknown>;
  const { engine, app_engine: app = all['appEngine'], flash_cache_capacity: cache = all['extraCacheGb'] } = all;
  const drives = Object.entries((all['drives'] ?? {}) as Record<string, number>);
  return [
    ...(typeof engine === 'string' ? [[`engine:${engine}`, 1] as const] : []),
    ...(typeof app === 'string' ? [[`app_engine:${app}`, 1] as const] : []),
    ...drives.map(([key, count]) => [`drive:${key}`, count] as const),
    ...(typeof cache === 'number' ? [['cache_gb:cache_gb', cache] as const] : []),
    ...(kind === 'add_proxy_controller' ? [['proxy:proxy', 1] as const] : []),
  ];
}
