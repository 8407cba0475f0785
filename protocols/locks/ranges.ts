/** Byte-range locks of one file. Offsets are whole 64-bit numbers: SMB and version 4 lock beyond any file's end. */
export const RANGE_END = 2n ** 64n;

/** Who holds locks: compared by identity. What it carries is shown to owners whose lock it conflicts with. */
export interface LockOwner {
  /** Of the client, as its protocol numbers clients; 0 if it does not. */
  readonly clientId: bigint;
  readonly name: Buffer;
  readonly processId: number;
}

export interface LockRange {
  readonly start: bigint;
  /** The first byte after the range; `RANGE_END` for all that there is and will be. */
  readonly end: bigint;
}

export interface HeldLock extends LockRange {
  readonly owner: LockOwner;
  readonly exclusive: boolean;
}

/**
 * Locks as POSIX has them: an owner's new lock replaces what it holds of the range, and neighbours of one kind become
 * one. Locks of different owners overlap only where both are shared. The list is in the order of `start`.
 */
export class RangeLocks {
  #held: HeldLock[] = [];

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  get held(): readonly HeldLock[] {
    return this.#held;
  }

  conflict(owner: LockOwner, { start, end }: LockRange, exclusive: boolean): HeldLock | undefined {
    for (const lock of this.#held) {
      if (lock.start >= end) return undefined;
      if (lock.end > start && lock.owner !== owner && (exclusive || lock.exclusive)) return lock;
    }
    return undefined;
  }

  /** The lock that is in the way, or undefined: then the range is locked. */
  lock(owner: LockOwner, range: LockRange, exclusive: boolean): HeldLock | undefined {
    const conflict = this.conflict(owner, range, exclusive);
    if (conflict !== undefined) return conflict;
    let { start, end } = range;
    const kept: HeldLock[] = [];
    for (const lock of this.#held) {
      const touches = lock.owner === owner && lock.start <= end && lock.end >= start;
      if (touches && lock.exclusive === exclusive) {
        if (lock.start < start) start = lock.start;
        if (lock.end > end) end = lock.end;
      } else if (touches) {
        kept.push(...remainders(lock, range));
      } else {
        kept.push(lock);
      }
    }
    kept.push({ owner, exclusive, start, end });
    this.#held = kept.sort(byStart);
    return undefined;
  }

  unlock(owner: LockOwner, range: LockRange): void {
    this.#held = this.#held.flatMap((lock) => (lock.owner === owner ? remainders(lock, range) : [lock])).sort(byStart);
  }

  unlockAll(owner: LockOwner): void {
    this.#held = this.#held.filter((lock) => lock.owner !== owner);
  }

  countOf(owner: LockOwner): number {
    return this.#held.reduce((count, lock) => count + (lock.owner === owner ? 1 : 0), 0);
  }
}

/** What is left of a lock without the range. */
function remainders(lock: HeldLock, { start, end }: LockRange): HeldLock[] {
  if (lock.end <= start || lock.start >= end) return [lock];
  const left = lock.start < start ? [{ ...lock, end: start }] : [];
  const right = lock.end > end ? [{ ...lock, start: end }] : [];
  return [...left, ...right];
}

function byStart(a: HeldLock, b: HeldLock): number {
  return a.start < b.start ? -1 : a.start > b.start ? 1 : 0;
}
