import { ShareBits, type LockTable, type ShareReservation } from '../../../locks/index.ts';
import { Access } from '../../filesystem.ts';
import type { Limits } from '../../limits.ts';
import type { Place } from '../../namespace/namespace.ts';
import { lockedFile } from '../../operations.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import type { Client4 } from './client.ts';
import type { StateOwner } from './owner.ts';
import { LockState, OpenState, type AnyState } from './state.ts';
import type { NamedState } from './state-id.ts';

const FIRST_SEQUENCE = 1;

export interface StatesOptions {
  readonly limits: Limits;
  readonly locks: LockTable;
  readonly instance: number;
  readonly clientByNumber: (number: number) => Client4 | undefined;
  /** A filesystem that failed to let go of a file. */
  readonly onError: (error: unknown) => void;
}

/** Opens and locks of all clients of version 4, as the table that all protocols share has them. */
export class States {
  readonly locks: LockTable;
  readonly instance: number;
  readonly #options: StatesOptions;
  #lastNumber = 0;

  constructor(options: StatesOptions) {
    this.#options = options;
    this.locks = options.locks;
    this.instance = options.instance;
  }

  /** The state a client names. `anySequence`: an older or later form of it will do. */
  find(named: NamedState, minorVersion: number, anySequence = false): AnyState {
    if (named.kind !== 'given') throw new Nfs4Error(Status4.badStateId);
    const { instance, id } = named;
    if (instance !== this.instance) throw new Nfs4Error(minorVersion === 0 ? Status4.staleStateId : Status4.badStateId);
    const client = this.#options.clientByNumber(id.client);
    if (client === undefined) throw new Nfs4Error(minorVersion === 0 ? Status4.expired : Status4.badStateId);
    const state = client.states.get(id.number);
    if (state === undefined || client.minorVersion !== minorVersion) throw new Nfs4Error(Status4.badStateId);
    const isLatest = anySequence || id.sequence === state.sequence || (minorVersion > 0 && id.sequence === 0);
    if (!isLatest) throw new Nfs4Error(id.sequence < state.sequence ? Status4.oldStateId : Status4.badStateId);
    return state;
  }

  openOf(owner: StateOwner, place: Place): OpenState | undefined {
    const shares = this.locks.find(lockedFile(place))?.shares ?? [];
    for (const share of shares) if (share instanceof OpenState && share.owner === owner) return share;
    return undefined;
  }

  mustGoTogether(place: Place, share: ShareReservation, own?: OpenState): void {
    const conflict = this.locks.find(lockedFile(place))?.shareConflict(share, own);
    if (conflict !== undefined) throw new Nfs4Error(Status4.shareDenied);
  }

  /** A new open of the file, or a wider one if the owner has it open already. */
  async open(owner: StateOwner, place: Place, share: ShareReservation): Promise<OpenState> {
    const { client } = owner;
    const known = this.openOf(owner, place);
    const wider = { access: share.access | (known?.access ?? 0), deny: share.deny | (known?.deny ?? 0) };
    this.mustGoTogether(place, wider, known);
    if (known !== undefined) {
      Object.assign(known, wider);
      known.changed();
      return known;
    }
    if (client.states.size >= this.#options.limits.opensPerClientMax) throw new Nfs4Error(Status4.resource);
    this.#lastNumber += 1;
    const state = new OpenState(this.#lastNumber, owner, place, lockedFile(place), share);
    // Entered before the file is held, so that no conflicting open is granted meanwhile.
    this.locks.of(state.file).shares.add(state);
    client.states.set(state.number, state);
    owner.states += 1;
    try {
      await place.filesystem.hold(place.as, place.file, accessOf(share));
    } catch (error) {
      this.#drop(state);
      throw error;
    }
    state.isHeld = true;
    if (client.states.get(state.number) === state) return state;
    // The client expired meanwhile.
    this.#letGo(state);
    throw new Nfs4Error(Status4.expired);
  }

  /** An open that no reply reported, unless another request has got it meanwhile. */
  withdraw(state: OpenState): void {
    if (state.sequence === FIRST_SEQUENCE) this.release(state);
  }

  lockState(owner: StateOwner, open: OpenState): LockState {
    for (const known of open.locks) if (known.owner === owner) return known;
    const { client } = owner;
    if (client.states.size >= 2 * this.#options.limits.opensPerClientMax) throw new Nfs4Error(Status4.resource);
    this.#lastNumber += 1;
    const state = new LockState(this.#lastNumber, owner, open);
    state.sequence = 0;
    open.locks.add(state);
    client.states.set(state.number, state);
    owner.states += 1;
    return state;
  }

  /** Frees the locks of a lock state, or closes an open with all locks taken under it. */
  release(state: AnyState): void {
    if (state.kind === 'lock') {
      this.#releaseLocks(state);
      return;
    }
    for (const lock of [...state.locks]) this.#releaseLocks(lock);
    if (this.#drop(state) && state.isHeld) this.#letGo(state);
  }

  #letGo({ place: { filesystem, file, as } }: OpenState): void {
    const failed = (error: unknown) => this.#options.onError(error);
    try {
      Promise.resolve(filesystem.release(as, file)).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  releaseAll(client: Client4): void {
    for (const state of [...client.states.values()]) if (state.kind === 'open') this.release(state);
  }

  /** The filesystem is not served any more. */
  releaseFilesystem(clients: Iterable<Client4>, filesystemId: bigint): void {
    for (const client of clients) {
      for (const state of [...client.states.values()]) {
        if (state.kind === 'open' && state.file.filesystemId === filesystemId) this.release(state);
      }
    }
  }

  /** Keeps count of the ranges that a client holds. */
  counted(state: LockState, action: () => void): void {
    const { ranges } = this.locks.of(state.file);
    const before = ranges.countOf(state.owner);
    action();
    state.client.ranges += ranges.countOf(state.owner) - before;
    this.locks.prune(state.file);
  }

  #releaseLocks(state: LockState): void {
    this.counted(state, () => this.locks.unlockAll(state.file, state.owner));
    state.open.locks.delete(state);
    if (state.client.states.delete(state.number)) state.owner.states -= 1;
  }

  #drop(state: OpenState): boolean {
    this.locks.find(state.file)?.shares.delete(state);
    this.locks.prune(state.file);
    if (!state.client.states.delete(state.number)) return false;
    state.owner.states -= 1;
    return true;
  }
}

function accessOf({ access }: ShareReservation): number {
  const reads = (access & ShareBits.read) !== 0 ? Access.read : 0;
  return reads | ((access & ShareBits.write) !== 0 ? Access.write : 0);
}
