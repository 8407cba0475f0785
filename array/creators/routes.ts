import type { ArrayHandlers } from '../handlers.ts';
import type { CreatorService } from './service.ts';

export function creatorRoutes(creators: CreatorService): ArrayHandlers<'creators'> {
  return { find: ({ kind, names }, { actor }) => ({ names: creators.find(actor, kind, names) }) };
}
