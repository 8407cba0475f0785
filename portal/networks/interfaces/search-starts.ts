import type { Tx } from '@granary/kernel';
import type { NetworkId } from '../../ids.ts';
import type { AddressPool } from '../addresses/pool.ts';
import { contains, type AddressRange } from '../addresses/subnet.ts';

interface Start {
  readonly networkId: NetworkId;
  readonly range: AddressRange;
  readonly from: bigint;
}

/**
 * Where the search for a free address of a network begins: below it every address is taken. It spares a walk over
 * thousands of them; what is really free is always asked of the store, so a start that is too low costs time only.
 */
export class SearchStarts {
  readonly #starts = new Map<string, Start>();
  #releases = 0;

  of(networkId: NetworkId, range: AddressPool): bigint {
    return this.#starts.get(keyOf(networkId, range))?.from ?? range.first;
  }

  /** Holds once the reservation is on disk, unless an address was given back in the meantime. */
  raise(tx: Tx, networkId: NetworkId, range: AddressPool, from: bigint): void {
    const releases = this.#releases;
    tx.afterCommit(() => {
      if (this.#releases === releases) this.#starts.set(keyOf(networkId, range), { networkId, range, from });
    });
  }

  /** At once, before it is known whether the release is committed: too low does no harm. */
  lower(networkId: NetworkId, family: AddressRange['family'], address: bigint): void {
    this.#releases += 1;
    for (const [key, start] of this.#starts) {
      const { range } = start;
      const isOfRange = start.networkId === networkId && range.family === family && contains(range, address);
      if (isOfRange && address < start.from) this.#starts.set(key, { ...start, from: address });
    }
  }
}

function keyOf(networkId: NetworkId, { family, first }: AddressRange): string {
  return `${networkId} ${family} ${first}`;
}
