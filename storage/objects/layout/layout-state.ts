import type { Reads, Transaction } from '@granary/kernel/sqlite';
import { drivesOfPartition, PARTITIONS_PER_POLICY, slotsOf } from '../blobs/pieces.ts';
import { ObjectError } from '../errors.ts';
import type { PolicyLayout } from '../records.ts';
import {
  type DriveCatalogue,
  type DriveRow,
  markPartition,
  readCatalogue,
  readMarks,
  type RingRow,
  saveRing,
} from './drive-catalogue.ts';
import type { StorageEvent } from './manager-types.ts';
import type { Ring } from './layout.ts';
import { PartitionStates } from './partition-states.ts';

/** What is known of a drive since the start. */
export interface Presence {
  readonly isPresent: boolean;
  /** When it was first missed; null while it is there, or was not looked for yet. */
  readonly absentSince: number | null;
  /** Failures in a row that threads reported, and when it may be tried again. */
  readonly failures: number;
  readonly retryAt: number;
  /** When it was last found after it was away. */
  readonly backAt: number;
}

const UNSEEN: Presence = { isPresent: false, absentSince: null, failures: 0, retryAt: 0, backAt: 0 };

export type Change = <T>(work: (tx: Transaction) => T) => Promise<T>;

/** State that the parts of the storage manager share. Rows change in the catalogue first, here once that is durable. */
export class LayoutState {
  readonly change: Change;
  readonly reader: Reads;
  readonly now: () => number;
  readonly publish: (event: StorageEvent) => void;
  readonly partitions: PartitionStates;
  readonly #presence = new Map<number, Presence>();
  #policies: readonly PolicyLayout[] = [];
  #drives = new Map<number, DriveRow>();
  #rings = new Map<number, RingRow>();
  /** Something that threads have to know changed, or is about to. */
  isDirty = true;

  constructor(options: {
    readonly change: Change;
    readonly reader: Reads;
    readonly now: () => number;
    readonly publish: (event: StorageEvent) => void;
  }) {
    this.change = options.change;
    this.reader = options.reader;
    this.now = options.now;
    this.publish = options.publish;
    this.partitions = new PartitionStates((drive) => this.isLive(drive));
  }

  get policies(): readonly PolicyLayout[] {
    return this.#policies;
  }

  get drives(): readonly DriveRow[] {
    return [...this.#drives.values()];
  }

  get rings(): readonly RingRow[] {
    return [...this.#rings.values()];
  }

  /** Takes over what is on record. */
  reload(): void {
    const catalogue: DriveCatalogue = readCatalogue(this.reader);
    this.#policies = catalogue.policies;
    this.#drives = new Map(catalogue.drives.map((row) => [row.number, row]));
    this.#rings = new Map(catalogue.rings.map((row) => [row.policy, row]));
    this.readMarks();
    this.isDirty = true;
  }

  readMarks(): void {
    this.partitions.update(
      readMarks(this.reader).map(({ partition, marked, doubted }) => ({
        partition,
        mark: marked,
        doubted: doubted !== 0,
      })),
    );
  }

  policy(index: number): PolicyLayout {
    const policy = this.#policies.find((one) => one.index === index);
    if (!policy) throw new ObjectError('no-such-policy', `There is no policy ${index}.`);
    return policy;
  }

  policyNamed(name: string): PolicyLayout {
    const policy = this.#policies.find((one) => one.name === name);
    if (!policy) throw new ObjectError('no-such-policy', `There is no policy ${name}.`);
    return policy;
  }

  drive(number: number): DriveRow | undefined {
    return this.#drives.get(number);
  }

  drivesOf(policy: number): DriveRow[] {
    return this.drives.filter((row) => row.policy === policy);
  }

  ring(policy: number): RingRow | undefined {
    return this.#rings.get(policy);
  }

  slotsOf(policy: number): number {
    return slotsOf(this.policy(policy));
  }

  presence(drive: number): Presence {
    return this.#presence.get(drive) ?? UNSEEN;
  }

  setPresence(drive: number, presence: Presence): void {
    if (presence.isPresent !== this.presence(drive).isPresent) this.isDirty = true;
    this.#presence.set(drive, presence);
  }

  isLive(drive: number): boolean {
    return this.#drives.has(drive) && this.presence(drive).isPresent;
  }

  /** A ring as threads know it. */
  ringsForThreads(): Ring[] {
    return this.rings.map((row) => ({
      policy: this.policy(row.policy),
      version: row.version,
      partitions: row.partitions,
      slots: row.slots,
      drives: row.drives,
    }));
  }

  /** Puts a new ring on record and marks the partitions that changed; `also` happens in the same transaction. */
  async placeAnew(policy: number, next: RingRow, also: (tx: Transaction) => void): Promise<void> {
    const before = this.ring(policy);
    const changed = before ? changedPartitions(before, next) : [];
    const spreads = new Map(changed.map((partition) => [partition, this.#spreadsWith(partition, before)]));
    // From now on nothing is repaired until threads know the new ring: they would call whole what no longer is.
    this.isDirty = true;
    await this.change((db) => {
      also(db);
      saveRing(db, next);
      for (const partition of changed) markPartition(db, partition);
    });
    this.reload();
    for (const [partition, known] of spreads) {
      const mark = this.partitions.marked.get(partition)?.mark;
      if (known && mark !== undefined) this.partitions.setSpreads(partition, mark, known);
    }
  }

  /** Where the blobs of a partition are once its ring changed: where they were; null when that is not known. */
  #spreadsWith(partition: number, ring: RingRow | undefined): readonly (readonly number[])[] | null {
    const known = this.partitions.spreadsOf(partition);
    if (known === null || !ring) return null;
    if (known) return known;
    const some = this.reader.get('SELECT 1 FROM blobs WHERE partition = ? LIMIT 1', partition);
    return some ? [[...drivesOfPartition(ring, partition)]] : [];
  }
}

function changedPartitions(before: RingRow, after: RingRow): number[] {
  const changed: number[] = [];
  for (let partition = 0; partition < after.partitions; partition += 1) {
    for (let slot = 0; slot < after.slots; slot += 1) {
      const at = partition * after.slots + slot;
      if (before.drives[at] === after.drives[at]) continue;
      changed.push(after.policy * PARTITIONS_PER_POLICY + partition);
      break;
    }
  }
  return changed;
}
