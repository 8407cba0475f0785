import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import type { Drive } from '../../drive/drive.ts';
import { StorageError } from '../../errors.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { FORMAT_NEWEST } from '../layout.ts';
import type { GroupFormat, RaidLevel } from '../layout.ts';

const MAGIC = 'GRANRAID';
const HEADER_BYTES = 20;
const SLOTS = 2;

export type MemberState = 'active' | 'rebuilding' | 'failed';

export interface MemberRecord {
  readonly uuid: string;
  readonly driveId: string;
  readonly state: MemberState;
  /**
   * While rebuilding: regions below this one are filled. Absent: only the regions marked in the write-intent log are
   * missing.
   */
  readonly rebuiltRegions?: number;
  /** Once failed: the event count of the failure. */
  readonly failedAt?: number;
  /** Once failed: it never was complete, so the write-intent log does not record what it lacks. */
  readonly incomplete?: boolean;
  readonly successor?: { readonly uuid: string; readonly driveId: string; readonly rebuiltRegions: number };
}

/** What a member records about the group. The one with the highest event count is authoritative. */
export interface Superblock {
  readonly groupId: string;
  readonly uuid: string;
  /** Absent in format 1. */
  readonly format?: GroupFormat;
  readonly level: RaidLevel;
  readonly stripeBytes: number;
  readonly memberBytes: number;
  readonly events: number;
  readonly sequence: number;
  /** The group was closed cleanly: no write is incomplete. */
  readonly clean: boolean;
  readonly members: readonly MemberRecord[];
  readonly spares: readonly { readonly uuid: string; readonly driveId: string }[];
}

export interface FoundSuperblock {
  readonly drive: Drive;
  readonly superblock: Superblock;
  /** The slot it was read from; the next one goes into the other slot, so that a torn write loses nothing. */
  readonly slot: number;
}

export async function readSuperblock(drive: Drive): Promise<FoundSuperblock | undefined> {
  const both = Buffer.alloc(SLOTS * BLOCK_BYTES);
  await drive.read(0, both);
  let newest: FoundSuperblock | undefined;
  for (let slot = 0; slot < SLOTS; slot += 1) {
    const superblock = decode(both.subarray(slot * BLOCK_BYTES, (slot + 1) * BLOCK_BYTES));
    if (superblock === undefined) continue;
    if (newest === undefined || isNewer(superblock, newest.superblock)) newest = { drive, superblock, slot };
  }
  return newest;
}

/** Whether `one` has a higher event count than `other` of the same group. */
function isNewer(one: Superblock, other: Superblock): boolean {
  return one.events > other.events || (one.events === other.events && one.sequence > other.sequence);
}

/** Not durable before the drive's next flush. */
export async function writeSuperblock(drive: Drive, superblock: Superblock, slot: number): Promise<void> {
  assert.ok(slot >= 0 && slot < SLOTS, 'a superblock is written to one of its slots');
  await drive.write(slot * BLOCK_BYTES, encode(superblock));
}

export async function wipeSuperblocks(drive: Drive): Promise<void> {
  await drive.write(0, Buffer.alloc(SLOTS * BLOCK_BYTES));
  await drive.flush();
}

function encode(superblock: Superblock): Buffer {
  const text = Buffer.from(JSON.stringify(superblock));
  if (text.length > BLOCK_BYTES - HEADER_BYTES) {
    throw new StorageError('invalid', 'The names of the drives are too long for the superblock; use shorter ones.');
  }
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(MAGIC, 0, 'latin1');
  block.writeUInt32LE(superblock.format ?? 1, 8);
  block.writeUInt32LE(text.length, 12);
  block.writeUInt32LE(crc32(text), 16);
  text.copy(block, HEADER_BYTES);
  return block;
}

function decode(block: Buffer): Superblock | undefined {
  const format = block.readUInt32LE(8);
  if (block.toString('latin1', 0, 8) !== MAGIC || format < 1 || format > FORMAT_NEWEST) return undefined;
  const length = block.readUInt32LE(12);
  if (length > BLOCK_BYTES - HEADER_BYTES) return undefined;
  const text = block.subarray(HEADER_BYTES, HEADER_BYTES + length);
  if (crc32(text) !== block.readUInt32LE(16)) return undefined;
  return JSON.parse(text.toString()) as Superblock;
}
