import type { ObjectsHandlers } from '../handlers.ts';
import type { SearchService } from './service.ts';

export function searchRoutes(search: SearchService): ObjectsHandlers<'search'> {
  return { find: ({ q, limit }, { actor }) => ({ results: search.find(actor, q, limit) }) };
}
