import type { ArrayHandlers } from '../handlers.ts';
import type { SearchService } from './service.ts';

export function searchRoutes(search: SearchService): ArrayHandlers<'search'> {
  return { find: async ({ q, limit }) => ({ results: await search.find(q, limit) }) };
}
