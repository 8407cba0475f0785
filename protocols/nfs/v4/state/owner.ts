import type { LockOwner } from '../../../locks/index.ts';
import type { Place } from '../../namespace/namespace.ts';
import { ownCopy } from '../../xdr/own-copy.ts';
import type { Client4 } from './client.ts';

/** The result of an operation, kept for a client of 4.0 that sends it again. */
export interface KeptResult {
  readonly operation: number;
  readonly status: number;
  readonly body: Buffer;
  /** Where the operation left the compound. */
  readonly place: Place | undefined;
}

/**
 * Opens and locks belong to owners. In 4.0 the requests of an owner are numbered and done one after the other, and the
 * last result is kept; in 4.1 sessions do that.
 */
export class StateOwner implements LockOwner {
  readonly client: Client4;
  readonly name: Buffer;
  readonly processId = 0;
  sequenceId: number | undefined;
  kept: KeptResult | undefined;
  /** 4.0: whether the client has confirmed that the owner exists. */
  isConfirmed: boolean;
  /** Opens or locks that belong to it. */
  states = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: Client4, name: Buffer) {
    this.client = client;
    this.name = ownCopy(name);
    this.isConfirmed = client.minorVersion > 0;
  }

  get clientId(): bigint {
    return this.client.id;
  }

  /** Runs after everything that was begun before. */
  inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#last.then(action, action);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
