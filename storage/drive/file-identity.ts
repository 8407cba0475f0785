import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';

/** The identity of a file or device, independent of what its path refers to. */
export interface FileIdentity {
  readonly isDevice: boolean;
  readonly dev: bigint;
  readonly ino: bigint;
  /** Of a device: its node may be created again, its numbers stay. */
  readonly rdev: bigint;
}

/**
 * What is wrong at a drive's path. `missing` and `replaced`: the bytes are elsewhere, perhaps intact. `damaged`: the
 * file is the drive's own, and part of its bytes is lost.
 */
export interface DriveLoss {
  readonly kind: 'missing' | 'replaced' | 'damaged';
  readonly reason: string;
}

export interface FileInspection {
  readonly loss?: DriveLoss;
  /** Changes with every write to the file. */
  readonly changedAt?: bigint;
}

export function identityOf(found: BigIntStats): FileIdentity {
  return { isDevice: !found.isFile(), dev: found.dev, ino: found.ino, rdev: found.rdev };
}

/** One stat: whether the path still refers to the file that was opened, and whether its size is unchanged. */
export async function inspectFile(path: string, identity: FileIdentity, sizeBytes: number): Promise<FileInspection> {
  let found: BigIntStats;
  try {
    found = await stat(path, { bigint: true });
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const isGone = code === 'ENOENT' || code === 'ENOTDIR';
    const what = isGone ? `${path} was moved or deleted` : `${path} cannot be looked at (${code})`;
    return { loss: { kind: 'missing', reason: `${what}; put it back, or replace the drive` } };
  }
  if (!isSame(found, identity)) {
    const reason = `something else is at ${path}; put back what was there, or replace the drive`;
    return { loss: { kind: 'replaced', reason } };
  }
  if (!identity.isDevice && found.size < BigInt(sizeBytes)) {
    const reason = `${path} was cut from ${sizeBytes} to ${found.size} bytes; replace the drive`;
    return { loss: { kind: 'damaged', reason } };
  }
  return { changedAt: found.ctimeNs };
}

function isSame(found: BigIntStats, identity: FileIdentity): boolean {
  if (identity.isDevice) return !found.isFile() && found.rdev === identity.rdev;
  return found.isFile() && found.dev === identity.dev && found.ino === identity.ino;
}
