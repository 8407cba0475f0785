import type { StateOwner } from './owner.ts';

const REMEMBERED_MAX = 256;

/** Whose opens were closed last: their CLOSE may come again when there is nothing left to close. */
export class ClosedOpens {
  readonly #owners = new Map<number, StateOwner>();

  remember(stateNumber: number, owner: StateOwner): void {
    this.#owners.set(stateNumber, owner);
    const [oldest] = this.#owners.keys();
    if (this.#owners.size > REMEMBERED_MAX && oldest !== undefined) this.#owners.delete(oldest);
  }

  ownerOf(stateNumber: number): StateOwner | undefined {
    return this.#owners.get(stateNumber);
  }
}
