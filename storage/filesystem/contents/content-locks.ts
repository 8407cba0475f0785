import { type HeldRange, RangeLock } from '../../range-lock.ts';
import type { Awaitable } from '../store/filesystem-store.ts';

/** Serializes changes of the same blocks of a file. Reads do not wait. */
export class ContentLocks {
  readonly #locks = new Map<number, RangeLock>();

  acquire(inode: number, start: number, end: number): Awaitable<HeldRange> {
    let lock = this.#locks.get(inode);
    if (lock === undefined) this.#locks.set(inode, (lock = new RangeLock()));
    return lock.isFree(start, end) ? lock.hold(start, end) : lock.acquire(start, end);
  }

  release(inode: number, range: HeldRange): void {
    const lock = this.#locks.get(inode);
    lock?.release(range);
    if (lock?.size === 0) this.#locks.delete(inode);
  }
}
