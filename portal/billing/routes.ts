import type { portalApi } from '@granary/contract/portal';
import type { Handlers } from '@granary/kernel';
import type { PortalActor } from '../actor.ts';
import type { Billing } from './service.ts';

export function billingRoutes(billing: Billing) {
  return {
    billing: {
      download: ({ start_datetime: start, end_datetime: end, user_id }, { actor }) =>
        billing.report({ start, end, userId: user_id === undefined ? undefined : Number(user_id) }, actor),
    },
  } satisfies Handlers<typeof portalApi, PortalActor>;
}
