import type { HostedConfiguration } from '@granary/kernel';

export type CheckedConfiguration = Pick<HostedConfiguration, 'folder' | 'drives' | 'storageEngine'>;

/** What a stopped engine keeps, and whether it is sound. */
export interface EngineCheck {
  /** What must hold and does not, in words. */
  readonly findings: readonly string[];
  /** None of an engine without `Hardware`. */
  readonly groups: readonly CheckedGroup[];
  readonly pools: readonly CheckedPool[];
}

export interface CheckedGroup {
  readonly id: string;
  readonly state: string;
  readonly capacityBytes: number;
  readonly members: readonly string[];
  readonly spares: readonly string[];
}

export interface CheckedPool {
  readonly id: string;
  readonly mode: 'simple' | 'stripe';
  readonly groups: readonly string[];
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly volumes: readonly CheckedVolume[];
}

export interface CheckedVolume {
  readonly id: string;
  readonly sizeBytes: number;
  readonly snapshots: readonly { readonly id: string; readonly sizeBytes: number }[];
}
