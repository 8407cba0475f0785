import type { Tx } from '@granary/kernel';
import type { NetworkId } from '../../ids.ts';

/**
 * Where the search for a free address of a network begins: below it every address is taken. It spares a walk over
 * thousands of them; what is really free is always asked of the store, so a start that is too low costs time only.
 */
export class SearchStarts {
  readonly #starts = new Map<number, bigint>();
  #releases = 0;

  of(networkId: NetworkId): bigint | undefined {
    return this.#starts.get(networkId);
  }

  /** Holds once the reservation is on disk, unless an address was given back in the meantime. */
  raise(tx: Tx, networkId: NetworkId, start: bigint): void {
    const releases = this.#releases;
    tx.afterCommit(() => {
      if (this.#releases === releases) this.#starts.set(networkId, start);
    });
  }

  /** At once, before it is known whether the release is committed: too low does no harm. */
  lower(networkId: NetworkId, address: bigint): void {
    this.#releases += 1;
    const start = this.#starts.get(networkId);
    if (start !== undefined && address < start) this.#starts.set(networkId, address);
  }
}
