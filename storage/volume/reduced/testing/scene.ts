import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { openPoolDatabase } from '../../../metadata/pool-database.ts';
import { Pool } from '../../../pool/pool.ts';
import type { BlockGroup } from '../../../raid/group.ts';
import { MemoryGroup } from '../../../testing/memory-group.ts';
import { checkReduced } from '../check.ts';

export const MIB = 1024 * 1024;
export const CHUNK = 32 * 1024;

/** A pool for one test, on memory. */
export class Scene {
  readonly file: string;
  readonly groups: BlockGroup[];
  pool: Pool;

  static async create(context: TestContext, groups: BlockGroup[] = [new MemoryGroup('group-1', 32 * MIB)]) {
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'granary-reduced-'));
    const file = path.join(folder, 'pool.db');
    const scene = new Scene(file, groups, await Pool.create({ file, groups, id: 'pool', mode: 'simple' }));
    context.after(async () => {
      await scene.pool.close();
      await fs.rm(folder, { recursive: true });
    });
    return scene;
  }

  private constructor(file: string, groups: BlockGroup[], pool: Pool) {
    this.file = file;
    this.groups = groups;
    this.pool = pool;
  }

  async volume(id: string, options: { compression?: boolean; deduplication?: boolean }, key?: Buffer) {
    const { compression = false, deduplication = false } = options;
    const wanted = { id, sizeBytes: 16 * MIB, options: { compression, deduplication } };
    return this.pool.volumes.create(key ? { ...wanted, key } : wanted);
  }

  /** Closes and opens the pool; returns what the check finds in between. */
  async reopen(): Promise<string[]> {
    await this.pool.close();
    const database = openPoolDatabase(this.file);
    const problems = checkReduced(database);
    database.close();
    this.open();
    return problems;
  }

  open(): void {
    this.pool = Pool.open({ file: this.file, groups: this.groups });
  }

  /** Waits for all background work. */
  async settle(): Promise<void> {
    await this.pool.whenIdle();
    await this.pool.flush();
    await this.pool.state.formats.reduced.space.readers.idle();
    await this.pool.state.extents.readers.idle();
  }
}

export async function contents(
  device: { read(offset: number, into: Buffer): unknown },
  offset: number,
  length: number,
) {
  const bytes = Buffer.alloc(length, 0xee);
  await device.read(offset, bytes);
  return bytes;
}

/** Bytes that look like prose: they compress to less than half. */
export function prose(length: number, seed = 0): Buffer {
  const words = ['granary', 'barley', 'storage', 'of', 'the', 'grain', 'harvest', 'mill', 'and', 'autumn'];
  const parts: string[] = [];
  let state = seed + 1;
  for (let size = 0; size < length; size += 10) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    parts.push(`${words[(state >>> 16) % words.length] ?? ''} ${(state >>> 8) % 1000} `);
  }
  return Buffer.alloc(length, parts.join(''));
}

/** Bytes that no algorithm makes smaller; the same for the same seed. */
export function noise(length: number, seed = 0): Buffer {
  const words = new Uint32Array(length / 4);
  let state = seed * 2 + 0x9e3779b1;
  for (let index = 0; index < words.length; index++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[index] = state;
  }
  return Buffer.from(words.buffer);
}
