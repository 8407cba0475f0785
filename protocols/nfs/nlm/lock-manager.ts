import { type HeldLock, type LockedFile, type LockTable, RANGE_END } from '../../locks/index.ts';
import type { NfsEvent } from '../events.ts';
import { fileErrorCode } from '../filesystem.ts';
import type { Limits } from '../limits.ts';
import { BadHandle } from '../namespace/file-handle.ts';
import type { FoundPlace, Namespace } from '../namespace/namespace.ts';
import { lockedFile, refused } from '../operations.ts';
import type { GracePeriod } from '../recovery/grace-period.ts';
import type { Call } from '../rpc/program.ts';
import type { HostCallbacks } from './callbacks.ts';
import type { LockClients, NlmClient, NlmOwner } from './lock-clients.ts';
import { NlmStatus, rangeOf, type LockArguments } from './messages.ts';

export interface LockManagerOptions {
  readonly namespace: Namespace;
  readonly limits: Limits;
  readonly locks: LockTable;
  readonly clients: LockClients;
  readonly grace: GracePeriod;
  readonly callbacks: HostCallbacks;
  readonly report: (event: NfsEvent) => void;
}

/** A refusal in the words of the protocol. */
class Refused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`lock status ${status}`);
    this.status = status;
  }
}

/** What the procedures of the lock manager do, in the table that all protocols share. */
export class LockManager {
  readonly #options: LockManagerOptions;

  constructor(options: LockManagerOptions) {
    this.#options = options;
  }

  /** The lock in the way, or a status. */
  async test(call: Call, args: LockArguments): Promise<HeldLock | number> {
    return this.#answered(async () => {
      const file = await this.#file(call, args);
      if (this.#options.grace.isActive) return NlmStatus.grace;
      const client = this.#options.clients.find(args.caller, call.address);
      const owner = client?.owners.get(`${args.processId} ${args.owner.toString('latin1')}`) ?? unknownClient(args);
      const conflict = this.#options.locks.find(file)?.ranges.conflict(owner, range(args), args.exclusive);
      return conflict ?? NlmStatus.granted;
    });
  }

  async lock(call: Call, args: LockArguments, how: { block: boolean; reclaim: boolean }): Promise<number> {
    return this.#answered(async () => {
      const { clients, locks, limits } = this.#options;
      const file = await this.#usableFile(call, args);
      const wanted = range(args);
      this.#checkGrace(args, call.address, how.reclaim);
      const client = await clients.admit(args.caller, call.address);
      if (client === undefined || clients.rangesOf(client) >= limits.locksPerClientMax) return NlmStatus.noLocks;
      const owner = clients.owner(client, args.owner, args.processId);
      owner.files.set(keyOf(file), file);
      const conflict = locks.of(file).ranges.lock(owner, wanted, args.exclusive);
      if (conflict === undefined) {
        client.waiting.get(waitKey(args))?.();
        return NlmStatus.granted;
      }
      const status = how.block ? this.#wait(client, owner, file, args) : NlmStatus.denied;
      clients.prune(owner, keyOf(file), file);
      return status;
    });
  }

  /** The client is called when the range is free; it also asks again now and then. */
  #wait(client: NlmClient, owner: NlmOwner, file: LockedFile, args: LockArguments): number {
    const { locks, clients, limits } = this.#options;
    const key = waitKey(args);
    if (client.waiting.has(key)) return NlmStatus.blocked;
    if (client.waiting.size >= limits.waitingLocksPerClientMax) return NlmStatus.noLocks;
    const { waiters, ranges } = locks.of(file);
    const stop = () => {
      waiters.delete(waiter);
      client.waiting.delete(key);
    };
    const waiter = () => {
      const again = clients.owner(client, owner.name, owner.processId);
      if (ranges.lock(again, range(args), args.exclusive) !== undefined) return;
      again.files.set(keyOf(file), file);
      stop();
      void this.#grant(again, file, args);
    };
    waiters.add(waiter);
    client.waiting.set(key, () => {
      stop();
      locks.prune(file);
    });
    return NlmStatus.blocked;
  }

  /** A client that cannot be reached, or does not want it any more, does not get the lock: it will ask again. */
  async #grant(owner: NlmOwner, file: LockedFile, args: LockArguments): Promise<void> {
    const { callbacks, locks, clients } = this.#options;
    if (await callbacks.granted(owner.client.address, args)) return;
    locks.unlock(file, owner, range(args));
    clients.prune(owner, keyOf(file), file);
  }

  async cancel(call: Call, args: LockArguments): Promise<number> {
    return this.#answered(() => {
      const cancel = this.#options.clients.find(args.caller, call.address)?.waiting.get(waitKey(args));
      cancel?.();
      return Promise.resolve(cancel === undefined ? NlmStatus.denied : NlmStatus.granted);
    });
  }

  async unlock(call: Call, args: LockArguments): Promise<number> {
    return this.#answered(async () => {
      const { clients, locks } = this.#options;
      const file = await this.#file(call, { ...args, exclusive: false });
      const client = clients.find(args.caller, call.address);
      const owner = client?.owners.get(`${args.processId} ${args.owner.toString('latin1')}`);
      // Unlocking what is not locked is no mistake.
      if (owner === undefined) return NlmStatus.granted;
      locks.unlock(file, owner, range(args));
      clients.prune(owner, keyOf(file), file);
      return NlmStatus.granted;
    });
  }

  /** An open of DOS, by version 3. */
  async share(call: Call, args: LockArguments, share: { access: number; deny: number }): Promise<number> {
    return this.#answered(async () => {
      const { clients, locks, limits } = this.#options;
      const file = await this.#usableFile(call, args);
      if (this.#options.grace.isActive) return NlmStatus.grace;
      const client = await clients.admit(args.caller, call.address);
      if (client === undefined) return NlmStatus.noLocks;
      const key = `${keyOf(file)} ${args.owner.toString('latin1')}`;
      const known = client.shares.get(key);
      if (known === undefined && client.shares.size >= limits.opensPerClientMax) return NlmStatus.noLocks;
      const entry = { ...share, file };
      const table = locks.of(file);
      if (table.shareConflict(entry, known) !== undefined) return NlmStatus.denied;
      if (known !== undefined) table.shares.delete(known);
      table.shares.add(entry);
      client.shares.set(key, entry);
      return NlmStatus.granted;
    });
  }

  async unshare(call: Call, args: LockArguments): Promise<number> {
    return this.#answered(async () => {
      const { clients, locks } = this.#options;
      const file = await this.#file(call, { ...args, exclusive: false });
      const client = clients.find(args.caller, call.address);
      const key = `${keyOf(file)} ${args.owner.toString('latin1')}`;
      const known = client?.shares.get(key);
      if (known !== undefined) locks.find(file)?.shares.delete(known);
      client?.shares.delete(key);
      locks.prune(file);
      return NlmStatus.granted;
    });
  }

  /** Only the host itself can say that it has ended. */
  freeAll(name: Buffer, address: string): void {
    const client = this.#options.clients.find(name, address);
    if (client !== undefined) this.#options.clients.releaseAll(client);
  }

  #checkGrace(args: LockArguments, address: string, reclaim: boolean): void {
    const { grace } = this.#options;
    if (!reclaim) {
      if (grace.isActive) throw new Refused(NlmStatus.grace);
      return;
    }
    const client = { kind: 'lock-manager', name: args.caller.toString('base64'), address } as const;
    if (!grace.mayReclaim(client)) throw new Refused(NlmStatus.grace);
  }

  async #file(call: Call, args: LockArguments): Promise<LockedFile> {
    return lockedFile((await this.#place(call, args)).place);
  }

  /** Who may neither read nor write a file must not keep others from it. */
  async #usableFile(call: Call, args: LockArguments): Promise<LockedFile> {
    const { place, attributes } = await this.#place(call, args);
    if (attributes.uid !== place.as.uid && (await place.filesystem.access(place.as, place.file)) === 0) {
      throw refused(place, args.exclusive ? 'write' : 'read');
    }
    return lockedFile(place);
  }

  async #place(call: Call, { handle, exclusive }: LockArguments): Promise<FoundPlace> {
    const place = await this.#options.namespace.resolve(handle, call);
    const attributes = await place.filesystem.attributes(place.file);
    if (attributes.type !== 'file') throw new Refused(NlmStatus.failed);
    if (exclusive && place.access.readOnly) throw new Refused(NlmStatus.readOnly);
    return { place, attributes };
  }

  async #answered<T>(action: () => Promise<T>): Promise<T | number> {
    try {
      return await action();
    } catch (error) {
      if (error instanceof Refused) return error.status;
      const code = error instanceof BadHandle ? 'ESTALE' : fileErrorCode(error);
      if (code === 'ESTALE') return NlmStatus.staleHandle;
      if (code === undefined) this.#options.report({ type: 'internal-error', address: '', error });
      return NlmStatus.failed;
    }
  }
}

function range(args: LockArguments): { start: bigint; end: bigint } {
  const found = rangeOf(args);
  if (found === undefined) throw new Refused(NlmStatus.tooLarge);
  return found;
}

function unknownClient({ owner, processId }: LockArguments) {
  return { clientId: 0n, name: owner, processId };
}

function keyOf({ filesystemId, inode, generation }: LockedFile): string {
  return `${filesystemId}/${inode}/${generation}`;
}

function waitKey({ handle, owner, processId, offset, length, exclusive }: LockArguments): string {
  return `${handle.toString('base64')} ${owner.toString('base64')} ${processId} ${offset} ${length} ${exclusive}`;
}

/** As the protocol writes a length: 0 for all that there is. */
export function lengthOf({ start, end }: HeldLock): bigint {
  return end === RANGE_END ? 0n : end - start;
}
