import type { PortalHandlers } from '../handlers.ts';
import type { BillingService } from './service.ts';
import { summaryView } from './view.ts';

interface Window {
  readonly start_datetime: string;
  readonly end_datetime: string;
  readonly user_id?: string | undefined;
}

export function billingRoutes(billing: BillingService): PortalHandlers {
  return {
    billing: {
      download: (window, { actor }) => billing.report(requestOf(window), actor),
      summary: async ({ per, array_id: arrayId, ...window }, { actor }) => ({
        data: summaryView(await billing.summary({ ...requestOf(window), arrayId }, per, actor)),
      }),
    },
  };
}

function requestOf({ start_datetime: start, end_datetime: end, user_id: id }: Window) {
  return { start, end, userId: id === undefined ? undefined : Number(id) };
}
