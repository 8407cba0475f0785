import { checksumBlocks } from '../kernels/index.ts';
import type { Drive } from './drive.ts';
import { COPIES_MAX } from './helper-ring.ts';
import { HelperThread } from './helper-thread.ts';
import type { SharedFile } from './shared-file.ts';

/** Observes a write that is not done synchronously, or was refused. */
type Watch<T> = (holder: T, done: Promise<void>) => Promise<void>;

interface Copy<T> {
  readonly holder: T;
  readonly file: SharedFile;
}

/**
 * Writes the same bytes to the same place of several drives, and stores the checksum of each block in `sums`. Returns
 * the writes in flight or refused, as `watch` wraps them; undefined when all are done.
 */
export function writeCopies<T extends { readonly drive: Drive }>(
  holders: readonly T[],
  offset: number,
  from: Buffer,
  sums: Uint32Array,
  watch: Watch<T>,
): Promise<void>[] | undefined {
  const helper = HelperThread.for(from);
  let running: Promise<void>[] | undefined;
  let copies: Copy<T>[] | undefined;
  for (const holder of holders) {
    const { drive } = holder;
    try {
      const isShared = helper !== undefined && (copies?.length ?? 0) < COPIES_MAX;
      const file = isShared ? drive.large?.fileToWrite(offset, from) : undefined;
      if (file) (copies ??= []).push({ holder, file });
      const done = file ? undefined : drive.write(offset, from);
      if (done) (running ??= []).push(watch(holder, done));
    } catch (error) {
      (running ??= []).push(watch(holder, rejected(error)));
    }
  }
  if (helper && copies) return writeShared(helper, copies, offset, from, sums, watch, running);
  checksumBlocks(from, sums, 0);
  return running;
}

function writeShared<T>(
  helper: HelperThread,
  copies: readonly Copy<T>[],
  offset: number,
  from: Buffer,
  sums: Uint32Array,
  watch: Watch<T>,
  running: Promise<void>[] | undefined,
): Promise<void>[] | undefined {
  for (const { file } of copies) file.begin('writes');
  const files = copies.map(({ file }) => file.fd);
  const nowMs = performance.now();
  // All files are asked, because each counts its requests.
  const fast = copies.filter(({ file }) => file.isFast(nowMs));
  const job = helper.write(files, offset, from, sums, fast.length === copies.length);
  const isDone = helper.isDone(job);
  for (const [index, { holder, file }] of copies.entries()) {
    if (!isDone) {
      const done = helper.ended(job).then(() => file.end('writes', job, index));
      (running ??= []).push(watch(holder, done));
      continue;
    }
    try {
      file.end('writes', job, index);
    } catch (error) {
      (running ??= []).push(watch(holder, rejected(error)));
    }
  }
  return running;
}

async function rejected(error: unknown): Promise<void> {
  await Promise.resolve();
  throw error;
}
