import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { BlockDevice } from '../../block-device.ts';
import type { BlockGroup } from '../../raid/group.ts';
import { MemoryGroup } from '../../testing/memory-group.ts';
import { BLOCK_BYTES, type Done, EXTENT_BYTES } from '../../units.ts';
import type { PoolMode } from '../allocator.ts';
import { Pool } from '../pool.ts';

export const MIB = 1024 * 1024;
export const KEY = Buffer.from(Array.from({ length: 64 }, (_, index) => index));

export interface RigOptions {
  readonly mode?: PoolMode;
  readonly groups?: readonly BlockGroup[];
}

/** A pool on memory groups. */
export class PoolRig {
  readonly file: string;
  readonly groups: BlockGroup[];
  pool: Pool;

  constructor(file: string, groups: BlockGroup[], pool: Pool) {
    this.file = file;
    this.groups = groups;
    this.pool = pool;
  }

  async reopen(groups: readonly BlockGroup[] = this.groups): Promise<Pool> {
    await this.pool.close();
    this.pool = Pool.open({ file: this.file, groups });
    return this.pool;
  }
}

export async function rigOf(t: TestContext, options: RigOptions = {}): Promise<PoolRig> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'granary-rig-'));
  const file = path.join(folder, 'pool.db');
  const groups = [...(options.groups ?? [new MemoryGroup('group-1', 32 * MIB)])];
  const pool = await Pool.create({ file, id: 'pool', mode: options.mode ?? 'simple', groups });
  const rig = new PoolRig(file, groups, pool);
  t.after(async () => {
    await rig.pool.close();
    await fs.rm(folder, { recursive: true });
  });
  return rig;
}

/** Yields `count` times to concurrent work. */
export async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick++) await Promise.resolve();
}

/** A memory group of `extents` extents. */
export function groupOf(id: string, extents: number): MemoryGroup {
  return new MemoryGroup(id, extents * EXTENT_BYTES);
}

/** Whole blocks of one letter. */
export function blocks(letter: string, count = 1): Buffer {
  return Buffer.alloc(count * BLOCK_BYTES, letter);
}

export async function readOf(device: BlockDevice, offset: number, length: number): Promise<Buffer> {
  const into = Buffer.alloc(length, 0xee);
  await device.read(offset, into);
  return into;
}

/** One letter for each block; `.` for zeros and `?` for a block that is not of one byte. */
export async function lettersOf(device: BlockDevice, count: number, offset = 0): Promise<string> {
  const bytes = await readOf(device, offset, count * BLOCK_BYTES);
  let letters = '';
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    const first = bytes[at] ?? 0;
    const uniform = bytes.subarray(at, at + BLOCK_BYTES).every((byte) => byte === first);
    letters += uniform ? (first === 0 ? '.' : String.fromCharCode(first)) : '?';
  }
  return letters;
}

/** A group whose reads or writes wait until they are let go. */
export class HeldGroup extends MemoryGroup {
  #reads: PromiseWithResolvers<void> | undefined;
  #writes: PromiseWithResolvers<void> | undefined;

  holdReads(): void {
    this.#reads = Promise.withResolvers();
  }

  holdWrites(): void {
    this.#writes = Promise.withResolvers();
  }

  letGo(): void {
    this.#reads?.resolve();
    this.#writes?.resolve();
    this.#reads = undefined;
    this.#writes = undefined;
  }

  override read(offset: number, into: Buffer): Done {
    return this.#reads ? this.#reads.promise.then(() => super.read(offset, into)) : super.read(offset, into);
  }

  override write(offset: number, from: Buffer): Done {
    return this.#writes ? this.#writes.promise.then(() => super.write(offset, from)) : super.write(offset, from);
  }
}
