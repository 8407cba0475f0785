import { formatUtc } from '@granary/kernel';
import type { DatedPrice, EnginePrices } from './service.ts';

/** The prices of the engines of one provider. */
export function enginePricesView({ provider, engines }: EnginePrices) {
  return {
    currency: 'USD',
    type: 'io_engine',
    name: provider.name,
    cloud_name: provider.cloudName,
    type_id: provider.id,
    data: Object.fromEntries(
      engines.map(({ key, price, available }) => [key, { value: price, available_in_cloud: available }]),
    ),
  };
}

export function priceView({ kind, key, price, effectiveFrom, state }: DatedPrice) {
  return { kind, key, hourly_price_usd: price, effective_from: formatUtc(effectiveFrom), state };
}
