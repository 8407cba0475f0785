import { formatUtc } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import type { AuditLogService } from './service.ts';

export function auditRoutes(logs: AuditLogService): ArrayHandlers<'auditLogs'> {
  return {
    getTimeRange: async ({ readable }) => {
      const range = await logs.timeRange();
      if (!range) return { from_date_time: null, to_date_time: null };
      const shown = readable === undefined ? (ms: number) => Math.floor(ms / 1000) : formatUtc;
      return { from_date_time: shown(range.firstMs), to_date_time: shown(range.lastMs) };
    },
    download: async ({ from, to }) => ({ filename: 'audit-logs.zip', stream: await logs.download(from, to) }),
  };
}
