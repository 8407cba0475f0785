import type { NfsSession } from './session.ts';
import { ClosedOpens } from './closed-opens.ts';
import { StateOwner } from './owner.ts';
import type { AnyState } from './state.ts';

/** Owners without opens or locks that are remembered for requests that come again. */
const IDLE_OWNERS_MAX = 1024;

export interface ClientIdentity {
  readonly name: Buffer;
  /** Changes when the client restarts. */
  readonly verifier: Buffer;
  /** Whose credentials it came with. */
  readonly principal: string;
  readonly address: string;
}

/** A client of version 4, with everything it holds. */
export class Client4 {
  readonly id: bigint;
  readonly number: number;
  readonly minorVersion: number;
  identity: ClientIdentity;
  isConfirmed = false;
  /** What the client must show to confirm itself; 4.0. */
  confirmation: bigint;
  renewedAt: number;
  /** 4.1: it claims nothing from before a restart any more. */
  reclaimComplete = false;
  /** 4.1: number of the last CREATE_SESSION, and what was answered. */
  createSequence = 0;
  createReply: { readonly status: number; readonly body: Buffer } | undefined;
  readonly sessions = new Set<NfsSession>();
  readonly states = new Map<number, AnyState>();
  readonly closed = new ClosedOpens();
  /** Byte ranges held. */
  ranges = 0;
  readonly #owners = { open: new Map<string, StateOwner>(), lock: new Map<string, StateOwner>() };

  constructor(id: bigint, number: number, minorVersion: number, identity: ClientIdentity, now: number) {
    this.id = id;
    this.number = number;
    this.minorVersion = minorVersion;
    this.identity = identity;
    this.renewedAt = now;
    this.confirmation = 0n;
  }

  /** Base64, as it is recorded. */
  get recordName(): string {
    return this.identity.name.toString('base64');
  }

  get hasState(): boolean {
    return this.states.size > 0;
  }

  owner(kind: 'open' | 'lock', name: Buffer): StateOwner | undefined {
    return this.#owners[kind].get(name.toString('latin1'));
  }

  ownerOrNew(kind: 'open' | 'lock', name: Buffer): StateOwner {
    const owners = this.#owners[kind];
    const key = name.toString('latin1');
    const known = owners.get(key);
    if (known !== undefined) {
      // The longest unused comes first.
      owners.delete(key);
      owners.set(key, known);
      return known;
    }
    this.#prune(owners);
    const owner = new StateOwner(this, name);
    owners.set(key, owner);
    return owner;
  }

  dropOwner(kind: 'open' | 'lock', owner: StateOwner): void {
    this.#owners[kind].delete(owner.name.toString('latin1'));
  }

  #prune(owners: Map<string, StateOwner>): void {
    if (owners.size < IDLE_OWNERS_MAX) return;
    for (const [key, { states }] of owners) {
      if (states > 0) continue;
      owners.delete(key);
      if (owners.size < IDLE_OWNERS_MAX) return;
    }
  }
}
