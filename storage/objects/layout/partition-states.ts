import { drivesOfPartition, piecesToRead } from '../blobs/pieces.ts';
import type { RingRow } from './drive-catalogue.ts';
import type { PolicyLayout } from '../records.ts';

export type Health = 'normal' | 'degraded' | 'critical';

/** A partition of which some pieces may be missing, or not where the ring wants them. */
export interface Marked {
  readonly partition: number;
  /** Changes each time it is marked again. */
  readonly mark: number;
  /** Every piece has to be read. */
  readonly doubted: boolean;
}

interface Entry extends Marked {
  /** On which drives its blobs are, by slot, each way once; null until they were found. */
  spreads: readonly (readonly number[])[] | null;
  /** The mark it had when the spreads were found. */
  spreadsAt: number;
}

/**
 * How many pieces partitions lack, without walking their blobs: those that are not marked have every piece where the
 * ring says, so the drives' states suffice. For marked ones the ways in which blobs are spread are found once and held
 * against the drives' states from then on.
 */
export class PartitionStates {
  readonly #entries = new Map<number, Entry>();
  readonly #isLive: (drive: number) => boolean;

  constructor(isLive: (drive: number) => boolean) {
    this.#isLive = isLive;
  }

  /** Takes over what is on record. */
  update(marks: readonly Marked[]): void {
    const gone = new Set(this.#entries.keys());
    for (const marked of marks) {
      gone.delete(marked.partition);
      const entry = this.#entries.get(marked.partition);
      this.#entries.set(marked.partition, {
        ...marked,
        spreads: entry?.spreads ?? null,
        spreadsAt: entry?.spreadsAt ?? 0,
      });
    }
    for (const partition of gone) this.#entries.delete(partition);
  }

  get marked(): ReadonlyMap<number, Marked> {
    return this.#entries;
  }

  unmark(partition: number): void {
    this.#entries.delete(partition);
  }

  /** Marked partitions whose spreads are unknown. */
  unknown(): Marked[] {
    return [...this.#entries.values()].filter((entry) => entry.spreads === null);
  }

  /** What a look at all blobs of a partition found. */
  setSpreads(partition: number, mark: number, spreads: readonly (readonly number[])[]): void {
    const entry = this.#entries.get(partition);
    if (!entry) return;
    entry.spreads = spreads;
    entry.spreadsAt = mark;
  }

  /** Undefined for one that is not marked, null for one whose spreads are unknown or changed since. */
  spreadsOf(partition: number): readonly (readonly number[])[] | null | undefined {
    const entry = this.#entries.get(partition);
    return entry && entry.spreadsAt !== entry.mark ? null : entry?.spreads;
  }

  /** Its blobs were moved: to be looked at again. */
  dropSpreads(partition: number): void {
    const entry = this.#entries.get(partition);
    if (entry) entry.spreads = null;
  }

  health(partition: number, policy: PolicyLayout, ring: RingRow): Health {
    const lacking = this.#lacking(partition, ring);
    if (lacking === 0) return 'normal';
    return lacking >= ring.slots - piecesToRead(policy) ? 'critical' : 'degraded';
  }

  #lacking(partition: number, ring: RingRow): number {
    const byRing = this.#dead(drivesOfPartition(ring, partition));
    const entry = this.#entries.get(partition);
    if (!entry || entry.spreads?.length === 0) return byRing;
    // Its spreads are unknown since it was marked: at least one piece is missing or out of place.
    if (!entry.spreads) return Math.max(byRing, 1);
    const known = entry.spreads.reduce((most, spread) => Math.max(most, this.#dead(spread)), 0);
    return entry.spreadsAt === entry.mark ? known : Math.max(known, byRing, 1);
  }

  #dead(drives: Iterable<number>): number {
    let dead = 0;
    for (const drive of drives) if (!this.#isLive(drive)) dead += 1;
    return dead;
  }
}
