import { randomUUID } from 'node:crypto';
import { bytes, type Bytes } from '@granary/kernel';
import type { ShareOptions } from '../shares/options.ts';
import type { Volume } from './volume.ts';

export interface NewVolumeRequest {
  readonly displayName: string;
  readonly pool: string;
  readonly sizeBytes: Bytes;
  /** As the array does it with new volumes when left out. */
  readonly compress?: boolean | undefined;
  readonly dedupe?: boolean | undefined;
  readonly encrypted: boolean;
  /** A block volume when left out. */
  readonly share?: NewShare | undefined;
  readonly expandsItself?: boolean;
  readonly expandByBytes?: Bytes | undefined;
  readonly maxBytes?: Bytes | undefined;
  readonly readIopsCap?: number | undefined;
  readonly readMbpsCap?: number | undefined;
  readonly writeIopsCap?: number | undefined;
  readonly writeMbpsCap?: number | undefined;
  /** The mirror it is the destination of. */
  readonly mirrorJob?: string | undefined;
}

/** A volume with a filesystem in it. */
export interface NewShare {
  readonly options: ShareOptions;
  /** Its own name when left out. */
  readonly exportName?: string | undefined;
  /** Where the name is taken or cannot be one of an export, another like it will do. */
  readonly orSimilar?: boolean;
}

export type Reduced = NewVolumeRequest & { readonly compress: boolean; readonly dedupe: boolean };
export type Unnamed = Omit<Volume, 'consistencyGroup' | 'wrappedKey' | 'createdBy'>;

/** An identifier of the form servers expect of a disk (NAA, type 6), by chance unique. */
function newWwid(): string {
  return `6${randomUUID().replaceAll('-', '').slice(1)}`;
}

export function newVolume(name: Volume['name'], wanted: Reduced, now: number): Unnamed {
  return {
    name,
    displayName: wanted.displayName,
    pool: wanted.pool,
    kind: wanted.share ? 'file' : 'block',
    sizeBytes: wanted.sizeBytes,
    // A filesystem that was just made is not empty: only its record tells that it is unused.
    state: wanted.share ? 'creating' : 'ready',
    comment: null,
    compress: wanted.compress,
    dedupe: wanted.dedupe,
    wwid: newWwid(),
    mirrorJob: wanted.mirrorJob ?? null,
    migration: null,
    restoring: null,
    restoredAt: null,
    countsSizes: false,
    capacityMode: 'normal',
    historyMinutes: 60,
    alertMinutes: 0,
    emergencyBytes: bytes(0),
    expandsItself: wanted.expandsItself === true,
    expandByBytes: wanted.expandByBytes ?? null,
    maxBytes: wanted.maxBytes ?? null,
    readIopsLimit: 0,
    readMbpsLimit: 0,
    readLatencyLimit: 0,
    writeIopsLimit: 0,
    writeMbpsLimit: 0,
    writeLatencyLimit: 0,
    readIopsCap: wanted.readIopsCap ?? 0,
    readMbpsCap: wanted.readMbpsCap ?? 0,
    writeIopsCap: wanted.writeIopsCap ?? 0,
    writeMbpsCap: wanted.writeMbpsCap ?? 0,
    isReductionPending: false,
    deleteJob: null,
    binnedAt: null,
    createdAt: now,
    modifiedAt: now,
  };
}

/** It has the size, pool and reduction of its source; comment, alert limits and caps are its own. */
export function newClone(name: Volume['name'], displayName: string, source: Volume, now: number): Unnamed {
  const { pool, sizeBytes, compress, dedupe } = source;
  const like = { displayName, pool, sizeBytes, compress: compress, dedupe: dedupe, encrypted: false };
  return { ...newVolume(name, like, now), kind: source.kind, state: 'creating' };
}
