import type { Bytes } from '@granary/kernel';
import type { ProviderId, UserId } from '../../ids.ts';

/** How much a user may run at a provider. */
export interface Compute {
  readonly id: number;
  readonly userId: UserId;
  readonly providerId: ProviderId;
  readonly displayName: string;
  readonly description: string | null;
  readonly cores: number;
  readonly ram: Bytes;
  readonly instances: number;
  readonly createdAt: number;
}
