import type { Bytes } from '@granary/kernel';
import type { CapacityMode } from '@granary/storage';
import type { PoolReport } from '../engine/report.ts';
import type { Name } from '../sequences/name.ts';

/** The space that volumes are cut from. */
export interface Pool {
  readonly name: Name<'pool'>;
  readonly displayName: string;
  readonly mode: 'simple' | 'stripe';
  readonly type: string;
  readonly capacityBytes: Bytes;
  readonly version: number;
  readonly state: 'creating' | 'ready' | 'deleting';
  readonly cache: boolean;
  /** Whether what snapshots share is cached, too. */
  readonly cowCache: boolean;
  /** How long data stays in its cache after its last use; 0 is for as long as there is room. */
  readonly coolOffHours: number;
  readonly capacityMode: CapacityMode;
  /** Over how long its growth is averaged. */
  readonly historyMinutes: number;
  /** It is in a mode when it will be full within this time; 0 is never. */
  readonly alertMinutes: number;
  readonly protectedMinutes: number;
  /** With less free, snapshots are given up; 0 is not set. */
  readonly emergencyBytes: Bytes;
  /** The same of what servers wrote, before it was reduced. */
  readonly effectiveHistoryMinutes: number;
  readonly effectiveAlertMinutes: number;
  readonly effectiveProtectedMinutes: number;
  readonly effectiveEmergencyBytes: Bytes;
  /** The RAID group that leaves it, and the job that empties that. */
  readonly shrinkGroup: string | null;
  readonly shrinkJob: number | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** How full a pool was. */
export interface PoolSample {
  readonly takenAt: number;
  readonly usedBytes: number;
  readonly savedBytes: number;
}

/** A pool with all that is not on record. */
export interface PoolFacts {
  readonly pool: Pool;
  /** Names of its RAID groups. */
  readonly groups: readonly string[];
  readonly provisionedBytes: Bytes;
  /** None when the engine does not have it. */
  readonly report: PoolReport | undefined;
  /** Whether a RAID group of it no longer serves, or its own metadata cannot be read. */
  readonly isFailed: boolean;
  /** Of a shrink, from 0 to 1. */
  readonly shrunk: number;
  /** In pieces of which the engine gives out space. */
  readonly allocationBytes: number;
}
