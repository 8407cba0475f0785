import { operations } from '@granary/contract';
import { objectsApi } from '@granary/contract/objects';
import { formatUtc } from '@granary/kernel';
import type { ObjectsHandlers } from '../handlers.ts';
import type { AccessLog } from './service.ts';

/** A name says the same in every group: none of them is the name of a change elsewhere. */
export const READS = operations(objectsApi)
  .filter(({ endpoint }) => endpoint.method === 'GET')
  .map(({ name }) => name);

export function accessLogRoutes(log: AccessLog, flush: () => Promise<void>): ObjectsHandlers<'accessLogs'> {
  return {
    list: async ({ limit, page, sort = [], kinds }) => {
      await flush();
      const { entries, count } = await log.list({ limit, page, sort, filter: kinds && { kinds, reads: READS } });
      return {
        access_logs: entries.map(({ created, ...entry }) => ({ ...entry, created: formatUtc(created) })),
        count,
      };
    },
  };
}
