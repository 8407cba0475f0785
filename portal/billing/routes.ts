import type { PortalHandlers } from '../handlers.ts';
import type { BillingService } from './service.ts';

export function billingRoutes(billing: BillingService): PortalHandlers {
  return {
    billing: {
      download: ({ start_datetime: start, end_datetime: end, user_id }, { actor }) =>
        billing.report({ start, end, userId: user_id === undefined ? undefined : Number(user_id) }, actor),
    },
  };
}
