import type { portalApi } from '@granary/contract/portal';
import type { Handlers } from '@granary/kernel';
import type { PortalActor } from './actor.ts';

/** What a resource's routes return: its part of the portal's contract. */
export type PortalHandlers = Handlers<typeof portalApi, PortalActor>;
