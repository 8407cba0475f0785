import type { PortalHandlers } from '../handlers.ts';
import type { PricingService } from './service.ts';
import { enginePricesView, priceView } from './view.ts';

/** `providers.setFlavorPrice` stands beside the other handlers of `providers`. */
export function pricingRoutes(pricing: PricingService): PortalHandlers {
  return {
    pricing: {
      get: (_, { actor }) => {
        const tables = pricing
          .enginePrices(actor)
          .map((prices) => [`provider${prices.provider.id}`, enginePricesView(prices)] as const);
        return { data: { io_engines: Object.fromEntries(tables) } };
      },
      list: ({ provider_id }, { actor }) => ({ data: pricing.list(provider_id, actor).map(priceView) }),
      set: async ({ provider_id: providerId, kind, key = kind, price, from }, { actor }) => {
        await pricing.setPrice({ providerId, kind, key, price }, from, actor);
        return {};
      },
      cancel: async ({ provider_id, kind, key = kind }, { actor }) => {
        await pricing.cancelPlanned(provider_id, { kind, key }, actor);
        return {};
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
