import type { summaryApi } from '@granary/contract';
import type { Handlers, PortalCaller } from '@granary/kernel';
import type { SummaryService } from './service.ts';

export function summaryRoutes(summaries: SummaryService): Handlers<typeof summaryApi, PortalCaller> {
  return { summaries: { get: async () => ({ summary: await summaries.get() }) } };
}
