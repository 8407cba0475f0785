import type { Bytes } from '@granary/kernel';
import type { ProviderId, UserId } from '../../ids.ts';

/** What app engines the arrays of a user may have at a provider. */
export interface ComputeLimits {
  readonly cores: number;
  /** Bytes. */
  readonly ram: number;
  /** Arrays with an app engine. */
  readonly instances: number;
}

/** Limits that a user was given at a provider. */
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
