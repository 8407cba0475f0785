import type { PortalHandlers } from '../handlers.ts';
import type { SearchService } from './service.ts';

export function searchRoutes(search: SearchService): PortalHandlers {
  return { search: { find: ({ q, limit }, { actor }) => ({ data: search.find(actor, q, limit) }) } };
}
