import type { ArrayHandlers } from '../handlers.ts';
import type { SearchService } from './service.ts';

export function searchRoutes(search: SearchService): ArrayHandlers<'search'> {
  return { find: ({ q, limit }) => ({ results: search.find(q, limit) }) };
}
