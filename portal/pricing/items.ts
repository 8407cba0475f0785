import type { Inventory } from '@granary/contract/cloud';
import type { PriceKind } from '@granary/contract/portal';

/** Something with a price: an engine, a drive type, a gigabyte of cache. */
export interface PricedItem {
  readonly kind: PriceKind;
  /** Which one of its kind; where there is just one, the kind again. */
  readonly key: string;
}

export interface ItemPrice extends PricedItem {
  readonly price: string;
}

/** `drive:SSD_10GB`, `cache_gb`: how bills name an item; no two items share a name. */
export function itemName({ kind, key }: PricedItem): string {
  return kind === key ? kind : `${kind}:${key}`;
}

/** Stands for the engine, which object storage has none of: an array's encryption is one item, whatever its size. */
export const OBJECT_STORAGE_KEY = 'object_storage';

/** Everything in a cloud that has a price, at the cloud's own. */
export function listPrices(inventory: Inventory): ItemPrice[] {
  return [
    ...inventory.engine_types.map(({ key, hourly_price_usd: price }) => ({ kind: 'engine', key, price }) as const),
    ...inventory.engine_types.map(
      ({ key, encryption_hourly_price_usd: price }) => ({ kind: 'encryption', key, price }) as const,
    ),
    ...inventory.app_engines.map(({ key, hourly_price_usd: price }) => ({ kind: 'app_engine', key, price }) as const),
    ...inventory.drive_types.map(({ key, hourly_price_usd: price }) => ({ kind: 'drive', key, price }) as const),
    { kind: 'cache_gb', key: 'cache_gb', price: inventory.cache_gb_hourly_price_usd },
    { kind: 'public_ip', key: 'public_ip', price: inventory.public_ip_hourly_price_usd },
    { kind: 'proxy', key: 'proxy', price: inventory.proxy_hourly_price_usd ?? '0' },
    { kind: 'public_objs', key: 'public_objs', price: inventory.public_objs_hourly_price_usd ?? '0' },
    { kind: 'encryption', key: OBJECT_STORAGE_KEY, price: inventory.objs_encryption_hourly_price_usd ?? '0' },
  ];
}

/** An engine by its id, by `nova_id_<n>`, or by its key, tried in that order. */
export function findEngineKey(inventory: Inventory, flavor: string): string | undefined {
  const engines = inventory.engine_types;
  const found =
    engines.find(({ id }) => String(id) === flavor) ??
    engines.find(({ nova_id }) => `nova_id_${nova_id}` === flavor) ??
    engines.find(({ key }) => key === flavor);
  return found?.key;
}
