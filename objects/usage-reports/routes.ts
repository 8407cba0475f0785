import type { ObjectsHandlers } from '../handlers.ts';
import type { UsageReports } from './service.ts';

export function usageReportRoutes(reports: UsageReports): ObjectsHandlers<'usageReports'> {
  return { generate: async (input, { actor }) => ({ usage: await reports.generate(input, actor) }) };
}
