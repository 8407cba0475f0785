import { compareForecasts, forecastView, pageOf } from '@granary/kernel';
import { scopeOf } from '../actor.ts';
import type { PortalHandlers } from '../handlers.ts';
import type { ArraySummaries } from './service.ts';
import type { Tools } from '../tools.ts';

export function forecastRoutes({ clock }: Tools, summaries: ArraySummaries): PortalHandlers {
  return {
    forecasts: {
      list: async (page, { actor }) => {
        const all = (await summaries.forecasts(scopeOf(actor))).sort(compareForecasts);
        const now = clock.now();
        return { data: pageOf(all, page).map((one) => forecastView(one, now)), count: all.length };
      },
    },
  };
}
