import { portalApi } from '@granary/contract/portal';
import { operationsOf } from './operations.ts';

/** The operations of the portal. */
export const portal = operationsOf(portalApi);
