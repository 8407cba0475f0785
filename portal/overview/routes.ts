import type { PortalHandlers } from '../handlers.ts';
import type { OverviewService } from './service.ts';

export function overviewRoutes(overview: OverviewService): PortalHandlers {
  return { overview: { get: async (_, { actor }) => ({ data: await overview.get(actor) }) } };
}
