import { formatUtc } from '@granary/kernel';
import type { ObjectsHandlers } from '../handlers.ts';
import type { AccessLog } from './service.ts';

export function accessLogRoutes(log: AccessLog, flush: () => Promise<void>): ObjectsHandlers<'accessLogs'> {
  return {
    list: async ({ limit, page, sort = [] }) => {
      await flush();
      const { entries, count } = await log.list({ limit, page, sort });
      return {
        access_logs: entries.map(({ created, ...entry }) => ({ ...entry, created: formatUtc(created) })),
        count,
      };
    },
  };
}
