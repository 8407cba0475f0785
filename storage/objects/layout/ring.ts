import assert from 'node:assert/strict';
import { domainsOf, type Domains, type RingDrive } from './domains.ts';

export type { RingDrive } from './domains.ts';

/**
 * The ring of a policy: which drive each slot of a partition belongs on.
 *
 *                     slot 0   slot 1   slot 2
 *     partition 0  │    4    │   1    │   7    │      drive numbers, 0 where there is none; stored with the policy
 *     partition 1  │    2    │   5    │   1    │      a blob's id says its partition, for good
 *     …            │         │        │        │
 *
 * It says where pieces *belong*. Where they *are* stands in the index, piece by piece, and reads go by that. So a ring may
 * change at any moment: partitions whose pieces are elsewhere are marked, and repair moves them.
 *
 * Example, two copies on drives 1, 2 and 3; drive 2 is lost for good:
 *
 * 1. The next step gives the slots of drive 2 to others: partition 0 (1, 2) becomes (1, 3). The new ring and the marks
 *    of the partitions it changed are one transaction. Crash before: the old ring, nothing lost. After: the new ring, and
 *    the marks say what is to be done.
 * 2. Repair reads the copy on drive 1, writes one to drive 3, durably, and changes the place in the index if it is still
 *    what it was. Crash between both: dead space on drive 3, and the partition is still marked.
 * 3. The mark is taken away when a pass has found every piece of the partition where it belongs, and no later mark came.
 * 4. PUTs go on meanwhile by the new ring. Blobs that a controller staged by the old one are entered with the places they
 *    have, and mark their partition.
 *
 * Invariants:
 * - Slots of a partition are on different drives; on different nodes and zones as far as there are enough.
 * - A step moves at most one slot of a partition whose drives are all there: a blob that the ring has just moved still has
 *    all other pieces in place.
 * - Equal questions have equal answers: a step that was lost in a crash is made again the same way.
 */

export interface Placing {
  /** A power of two. */
  readonly partitions: number;
  readonly slots: number;
  readonly drives: readonly RingDrive[];
  /** As it is now; null at creation. */
  readonly present: Uint32Array | null;
}

const FEWEST_PARTITIONS = 256;
const MOST_PARTITIONS = 4096;
const PARTITIONS_PER_DRIVE = 64;

/** Enough that a drive's share is even, few enough that walking them all is cheap. Never changes for a policy. */
export function partitionsFor(drives: number): number {
  let partitions = FEWEST_PARTITIONS;
  while (partitions < MOST_PARTITIONS && partitions < drives * PARTITIONS_PER_DRIVE) partitions *= 2;
  return partitions;
}

/**
 * One step from the present placing to an even one: drive number of `partition * slots + slot`, 0 where there is no
 * drive. Slots of drives that are gone are given to others at once; beyond that at most one slot of a partition moves,
 * so that the rest of it stays where its pieces are. Asking again after the step gives the next one; once it changes
 * nothing, shares are in proportion to capacity. Equal questions have equal answers.
 */
export function placeRing(placing: Placing): Uint32Array {
  const step = new Step(placing);
  step.fillEmpty();
  step.separate();
  step.balance();
  step.verify(placing.present);
  return step.drives;
}

/** The ring as it will be once every step was made. */
export function placeWhole(placing: Placing): Uint32Array {
  let present = placing.present;
  for (let step = 0; step < 2 * placing.slots + 8; step += 1) {
    const next = placeRing({ ...placing, present });
    if (present && sameRing(present, next)) return next;
    present = next;
  }
  return present ?? new Uint32Array(placing.partitions * placing.slots);
}

export function sameRing(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((drive, at) => drive === b[at]);
}

class Step {
  readonly drives: Uint32Array;
  readonly #partitions: number;
  readonly #slots: number;
  readonly #domains: Domains;
  /** By position of a drive in the list: slots it has. */
  readonly #counts: number[];
  readonly #indexOf = new Map<number, number>();
  /** Partitions of which a slot moved already. */
  readonly #moved: Uint8Array;
  readonly #isFirst: boolean;

  constructor({ partitions, slots, drives, present }: Placing) {
    const sorted = drives.filter((drive) => drive.capacity > 0).toSorted((a, b) => a.number - b.number);
    sorted.forEach((drive, at) => this.#indexOf.set(drive.number, at));
    this.#partitions = partitions;
    this.#slots = slots;
    this.#domains = domainsOf(sorted, slots, partitions);
    this.#counts = sorted.map(() => 0);
    this.#moved = new Uint8Array(partitions);
    this.#isFirst = present === null;
    this.drives = new Uint32Array(partitions * slots);
    present?.forEach((number, at) => {
      if (this.#indexOf.has(number)) this.#set(at, number);
    });
  }

  fillEmpty(): void {
    for (let partition = 0; partition < this.#partitions; partition += 1) {
      for (let slot = 0; slot < this.#slots; slot += 1) {
        const at = partition * this.#slots + slot;
        if (this.drives[at] !== 0) continue;
        const drive = this.#bestFor(partition, -1, true) ?? this.#bestFor(partition, -1, false);
        if (drive === undefined) break;
        this.#set(at, drive);
        if (!this.#isFirst) this.#moved[partition] = 1;
      }
    }
  }

  /** New zones or nodes may allow slots to stand further apart than they do. */
  separate(): void {
    for (let partition = 0; partition < this.#partitions; partition += 1) {
      if (this.#moved[partition]) continue;
      const crowded = this.#domains.crowded(this.#indexesOf(partition));
      const tried = crowded.toSorted((a, b) => this.#load(b) - this.#load(a));
      for (const from of tried) {
        const to = this.#bestFor(partition, from, true);
        if (to === undefined) continue;
        this.#move(partition, from, this.#indexOf.get(to) ?? from);
        break;
      }
    }
  }

  balance(): void {
    const { targets } = this.#domains;
    const over = (at: number) => (this.#counts[at] ?? 0) - Math.ceil(targets[at] ?? 0);
    const under = (at: number) => Math.floor(targets[at] ?? 0) - (this.#counts[at] ?? 0);
    this.#level(
      (at) => over(at) > 0,
      (at) => over(at) < 0,
    );
    this.#level(
      (at) => (this.#counts[at] ?? 0) > Math.floor(targets[at] ?? 0),
      (at) => under(at) > 0,
    );
  }

  /** Slots of a partition are on different drives, and at most one of those whose drives are there has moved. */
  verify(present: Uint32Array | null): void {
    for (let start = 0; start < this.drives.length; start += this.#slots) {
      let moved = 0;
      for (let at = start; at < start + this.#slots; at += 1) {
        const drive = this.drives[at] as number;
        if (drive === 0) continue;
        const others = this.drives.subarray(start, at);
        assert.ok(!others.includes(drive), 'slots of a partition are on different drives');
        const before = present?.[at] ?? 0;
        if (before !== drive && this.#indexOf.has(before)) moved += 1;
      }
      assert.ok(moved <= 1, 'at most one slot of a partition moves in a step');
    }
  }

  /** Moves slots from drives that have too much to drives that lack some, over others where no straight way is. */
  #level(givesUp: (at: number) => boolean, takes: (at: number) => boolean): void {
    const stuck = new Set<number>();
    for (let moves = 0; moves < this.#partitions * this.#slots; moves += 1) {
      const sources = this.#counts
        .map((_, at) => at)
        .filter((at) => givesUp(at) && !stuck.has(at))
        .toSorted((a, b) => this.#load(b) - this.#load(a) || a - b);
      const [source] = sources;
      if (source === undefined || !this.#counts.some((_, at) => takes(at))) return;
      if (!this.#moveAlong(source, takes)) stuck.add(source);
    }
  }

  /** A breadth-first walk: the way with the fewest moves. */
  #moveAlong(source: number, takes: (at: number) => boolean): boolean {
    const cameBy = new Map<number, { readonly from: number; readonly partition: number } | null>([[source, null]]);
    let front = [source];
    while (front.length > 0) {
      const next: number[] = [];
      for (const from of front) {
        const found = this.#reach(from, cameBy, next, takes, usedOn(cameBy, from));
        if (found === undefined) continue;
        this.#walkBack(found, cameBy);
        return true;
      }
      front = next;
    }
    return false;
  }

  #reach(
    from: number,
    cameBy: Map<number, { readonly from: number; readonly partition: number } | null>,
    next: number[],
    takes: (at: number) => boolean,
    used: ReadonlySet<number>,
  ): number | undefined {
    const number = this.#domains.drives[from]?.number ?? 0;
    const wanted = this.#counts.map((_, at) => at).filter((at) => takes(at) && !cameBy.has(at));
    wanted.sort((a, b) => this.#load(a) - this.#load(b) || a - b);
    const homes: number[] = [];
    for (let at = 0; at < this.drives.length; at += 1) {
      if (this.drives[at] !== number) continue;
      const partition = Math.floor(at / this.#slots);
      if (!this.#moved[partition] && !used.has(partition)) homes.push(partition);
    }
    homes.sort((a, b) => mix(a, number) - mix(b, number));
    for (const partition of homes) {
      const present = this.#indexesOf(partition);
      const to = wanted.find((at) => this.#domains.mayTake(present, at, from));
      if (to !== undefined) {
        cameBy.set(to, { from, partition });
        return to;
      }
    }
    for (const partition of homes) {
      const present = this.#indexesOf(partition);
      for (let to = 0; to < this.#counts.length; to += 1) {
        if (cameBy.has(to) || !this.#domains.mayTake(present, to, from)) continue;
        cameBy.set(to, { from, partition });
        next.push(to);
      }
    }
    return undefined;
  }

  #walkBack(end: number, cameBy: Map<number, { readonly from: number; readonly partition: number } | null>): void {
    for (let to = end, step = cameBy.get(to); step; to = step.from, step = cameBy.get(to)) {
      this.#move(step.partition, step.from, to);
    }
  }

  #bestFor(partition: number, without: number, apart: boolean): number | undefined {
    const present = this.#indexesOf(partition);
    let best: number | undefined;
    let least = Infinity;
    for (let at = 0; at < this.#counts.length; at += 1) {
      if (apart ? !this.#domains.mayTake(present, at, without) : present.includes(at)) continue;
      const number = this.#domains.drives[at]?.number ?? 0;
      // A little chance in it, so that the same few drives do not always share their partitions.
      const chance = (2 * mix(partition, number)) / 2 ** 32;
      const load = ((this.#counts[at] ?? 0) + chance) / Math.max(this.#domains.targets[at] ?? 0, 1e-9);
      if (load >= least) continue;
      least = load;
      best = number;
    }
    return best;
  }

  #load(at: number): number {
    return (this.#counts[at] ?? 0) / Math.max(this.#domains.targets[at] ?? 0, 1e-9);
  }

  #indexesOf(partition: number): number[] {
    const found: number[] = [];
    for (let slot = 0; slot < this.#slots; slot += 1) {
      const index = this.#indexOf.get(this.drives[partition * this.#slots + slot] ?? 0);
      if (index !== undefined) found.push(index);
    }
    return found;
  }

  #move(partition: number, from: number, to: number): void {
    const number = this.#domains.drives[from]?.number ?? 0;
    const at = this.drives.indexOf(number, partition * this.#slots);
    assert.ok(at >= 0 && at < (partition + 1) * this.#slots, 'a slot moves off a drive that has it');
    this.#counts[from] = (this.#counts[from] ?? 0) - 1;
    this.#set(at, this.#domains.drives[to]?.number ?? 0);
    if (!this.#isFirst) this.#moved[partition] = 1;
  }

  #set(at: number, number: number): void {
    const index = this.#indexOf.get(number);
    if (index === undefined) return;
    this.drives[at] = number;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }
}

/** Partitions that the way to a drive uses already: one partition moves once. */
function usedOn(
  cameBy: ReadonlyMap<number, { readonly from: number; readonly partition: number } | null>,
  end: number,
): Set<number> {
  const used = new Set<number>();
  for (let at = end, step = cameBy.get(at); step; at = step.from, step = cameBy.get(at)) used.add(step.partition);
  return used;
}

/** Scatters two small numbers over 32 bits. */
function mix(a: number, b: number): number {
  let hash = Math.imul(a + 1, 0x9e3779b1) ^ Math.imul(b + 1, 0x85ebca77);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}
