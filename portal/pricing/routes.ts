import type { PortalHandlers } from '../handlers.ts';
import type { EnginePrices, PricingService } from './service.ts';

/** `providers.setFlavorPrice` stands beside the other handlers of `providers`. */
export function pricingRoutes(pricing: PricingService): PortalHandlers {
  return {
    pricing: {
      get: (_, { actor }) => {
        const tables = pricing
          .enginePrices(actor)
          .map((prices) => [`provider${prices.provider.id}`, toTable(prices)] as const);
        return { data: { io_engines: Object.fromEntries(tables) } };
      },
      upload: async ({ provider_ids, file }, { actor }) => {
        await pricing.upload(provider_ids, file.bytes, actor);
        return {};
      },
    },
    providers: {
      setFlavorPrice: async ({ provider_id, flavor_key, price }, { actor }) => {
        await pricing.setFlavorPrice({ providerId: provider_id, flavor: flavor_key, price }, actor);
        return {};
      },
    },
  };
}

function toTable({ provider, engines }: EnginePrices) {
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
