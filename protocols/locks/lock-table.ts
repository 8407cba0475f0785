import { RangeLocks, type LockOwner, type LockRange } from './ranges.ts';

/**
 * The one table of opens and byte-range locks for all protocols. It stands above the filesystem and not in it: a
 * filesystem knows no clients, no leases and no grace periods, and a snapshot must not hold locks. It lives in
 * the process that serves the filesystem; what survives a restart is what clients claim again.
 */
export interface LockedFile {
  readonly filesystemId: bigint;
  readonly inode: number;
  readonly generation: number;
}

export const ShareBits = { read: 1, write: 2, both: 3 } as const;

/** An open: what it does with the file, and what it denies to other opens. */
export interface ShareReservation {
  readonly access: number;
  readonly deny: number;
}

/** A waiter for a range: called after each release, and removes itself from the list when it is served. */
export type Waiter = () => void;

export class FileLocks {
  readonly ranges = new RangeLocks();
  readonly shares = new Set<ShareReservation>();
  readonly waiters = new Set<Waiter>();

  /** An open that does not go together with this one. `own` is the one that would be replaced. */
  shareConflict({ access, deny }: ShareReservation, own?: ShareReservation): ShareReservation | undefined {
    for (const share of this.shares) {
      if (share === own) continue;
      if ((share.deny & access) !== 0 || (share.access & deny) !== 0) return share;
    }
    return undefined;
  }

  get isEmpty(): boolean {
    return this.ranges.isEmpty && this.shares.size === 0 && this.waiters.size === 0;
  }
}

export class LockTable {
  readonly #files = new Map<string, FileLocks>();

  /** Files with an open, a lock or a waiter for one. */
  get size(): number {
    return this.#files.size;
  }

  /** Undefined if there is no open and no lock. */
  find(file: LockedFile): FileLocks | undefined {
    return this.#files.size === 0 ? undefined : this.#files.get(keyOf(file));
  }

  /** Call `tidy` when done with it. */
  of(file: LockedFile): FileLocks {
    const key = keyOf(file);
    let locks = this.#files.get(key);
    if (locks === undefined) this.#files.set(key, (locks = new FileLocks()));
    return locks;
  }

  /** Forgets the file if nothing is left to remember. */
  prune(file: LockedFile): void {
    if (this.find(file)?.isEmpty === true) this.#files.delete(keyOf(file));
  }

  unlock(file: LockedFile, owner: LockOwner, range: LockRange): void {
    this.#release(file, (locks) => locks.ranges.unlock(owner, range));
  }

  unlockAll(file: LockedFile, owner: LockOwner): void {
    this.#release(file, (locks) => locks.ranges.unlockAll(owner));
  }

  /** Whether an open of another owner denies this to those who have not opened the file. */
  isDenied(file: LockedFile, access: number): boolean {
    return this.find(file)?.shareConflict({ access, deny: 0 }) !== undefined;
  }

  #release(file: LockedFile, release: (locks: FileLocks) => void): void {
    const locks = this.find(file);
    if (locks === undefined) return;
    release(locks);
    for (const waiter of [...locks.waiters]) waiter();
    this.prune(file);
  }
}

function keyOf({ filesystemId, inode, generation }: LockedFile): string {
  return `${filesystemId}/${inode}/${generation}`;
}
