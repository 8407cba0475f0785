import * as fs from 'node:fs';
import { open } from 'node:fs/promises';
import { isDiskFull } from '@granary/kernel/sqlite';
import { StorageError } from '../../errors.ts';

/** Disks under load take seconds, and tens of them at worst. */
const ANSWER_TURNS = 30;
const TURN_MS = 1_000;

/** A new or renamed file is found after a crash only once its folder was synced. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes all of `buffers`, also where the system takes them in several goes. */
export function writeAll(fd: number, buffers: readonly Uint8Array[], position: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const step = (rest: readonly Uint8Array[], at: number): void => {
      fs.writev(fd, rest, at, (error, written) => {
        if (error) reject(error);
        else {
          const left = withoutFirst(rest, written);
          if (left.length === 0) resolve();
          else if (written === 0) reject(new Error('the system took none of the bytes'));
          else step(left, at + written);
        }
      });
    };
    step(buffers, position);
  });
}

export function fdatasync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => fs.fdatasync(fd, (error) => (error ? reject(error) : resolve())));
}

/** An unlinked file takes writes in silence: they are gone with the last one who has it open. */
export function isRemoved(fd: number): boolean {
  try {
    return fs.fstatSync(fd).nlink === 0;
  } catch {
    return true;
  }
}

/** What a failed call means: a full disk is no failure of the drive, nor is a process that has too many files open. */
export function driveError(drive: number, doing: string, cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  if (isDiskFull(cause)) {
    return new StorageError('no-space', `The disk under drive ${drive} is full.`, { cause });
  }
  if (code === 'EMFILE' || code === 'ENFILE') {
    return new StorageError('conflict', 'The process has too many files open; raise its limit.', { cause });
  }
  return new StorageError('drive-failed', `Drive ${drive} failed while ${doing}.`, { cause });
}

function withoutFirst(buffers: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let index = 0;
  let left = bytes;
  for (; index < buffers.length; index += 1) {
    const length = buffers[index]?.length ?? 0;
    if (left < length) break;
    left -= length;
  }
  if (left === 0) return index === 0 ? buffers : buffers.slice(index);
  return buffers.slice(index).map((buffer, position) => (position === 0 ? buffer.subarray(left) : buffer));
}

/**
 * A drive that does not answer at all has failed, too. What it was asked to do may still happen. The time is counted in
 * turns of this thread: when the whole machine stands still, its drives are not the ones to blame.
 */
export function withinLimit<T>(drive: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let turns = 0;
    const turn = () => {
      turns += 1;
      if (turns < ANSWER_TURNS) timer = setTimeout(turn, TURN_MS);
      else reject(new StorageError('drive-failed', `Drive ${drive} did not answer for ${ANSWER_TURNS} seconds.`));
    };
    let timer = setTimeout(turn, TURN_MS);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
