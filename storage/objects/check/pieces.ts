import type { Reads } from '@granary/kernel/sqlite';
import { PieceBuilder } from '../blobs/piece-builder.ts';
import { partitionInPolicy, pieceBytesOf, piecesToRead, policyOfPartition } from '../blobs/pieces.ts';
import type { OpenDrives } from '../drives/drives.ts';
import { unpackPlaces } from '../index/places.ts';
import type { Layout, Ring } from '../layout/layout.ts';
import type { BlobRecord, Place } from '../records.ts';
import type { Problems } from './problems.ts';

const AT_ONCE = 32;

export interface PieceCounts {
  blobs: number;
  pieces: number;
  /** Not there: never written, or on a drive that is away. */
  missing: number;
  damaged: number;
}

interface BlobLine {
  readonly partition: number;
  readonly id: Uint8Array;
  readonly key: number;
  readonly size: number;
  readonly piece_bytes: number;
  readonly places: Uint8Array;
}

/** Reads every piece of every blob, and adds up what should live in each segment. */
export class PieceCheck {
  readonly counts: PieceCounts = { blobs: 0, pieces: 0, missing: 0, damaged: 0 };
  /** Bytes by drive and segment. */
  readonly live = new Map<number, Map<number, number>>();
  readonly #db: Reads;
  readonly #layout: Layout;
  readonly #drives: OpenDrives;
  readonly #builder: PieceBuilder;
  readonly #problems: Problems;
  readonly #marked: ReadonlySet<number>;
  readonly #doubted: ReadonlySet<number>;

  constructor(db: Reads, layout: Layout, drives: OpenDrives, problems: Problems) {
    this.#db = db;
    this.#layout = layout;
    this.#drives = drives;
    this.#problems = problems;
    this.#builder = new PieceBuilder({ layout: () => layout, drives });
    this.#marked = partitionsIn(db, 'partitions');
    this.#doubted = partitionsIn(db, 'doubts');
  }

  async run(): Promise<void> {
    let after: { partition: number; id: Uint8Array } = { partition: -1, id: new Uint8Array(0) };
    for (;;) {
      const rows = this.#db.all<BlobLine>(
        'SELECT * FROM blobs WHERE (partition, id) > (?, ?) ORDER BY partition, id LIMIT ?',
        after.partition,
        after.id,
        AT_ONCE,
      );
      await Promise.all(rows.map((row) => this.#check(row)));
      const last = rows.at(-1);
      if (!last) return;
      after = last;
    }
  }

  async #check(row: BlobLine): Promise<void> {
    const { partition, id, key, size, piece_bytes: pieceBytes } = row;
    const name = `${partition}/${Buffer.from(id).toString('hex')}`;
    const record: BlobRecord = { partition, id, key, size, places: unpackPlaces(row.places) };
    const ring = this.#layout.rings.find(({ policy }) => policy.index === policyOfPartition(partition));
    this.counts.blobs += 1;
    for (const place of record.places) if (place) this.#addLive(place, pieceBytes);
    if (!ring) {
      this.#problems.add('piece', `blob ${name} is of a policy without a ring`);
      return;
    }
    if (record.places.length !== ring.slots || pieceBytes !== pieceBytesOf(size, ring.policy)) {
      this.#problems.add('piece', `blob ${name} has places or sizes that are not its policy's`);
    }
    const good = await this.#countGood(record, name);
    if (good < piecesToRead(ring.policy)) this.#problems.add('unreadable', `blob ${name} has ${good} good pieces`);
    if (!this.#marked.has(partition) && !isAsWanted(record, ring)) {
      this.#problems.add('unmarked', `blob ${name} is out of place, and its partition is not marked`);
    }
  }

  async #countGood(record: BlobRecord, name: string): Promise<number> {
    let good = 0;
    for (const [slot, place] of record.places.entries()) {
      this.counts.pieces += 1;
      if (!place || !this.#drives.get(place.drive)) this.counts.missing += 1;
      else if (await this.#builder.isGood(record, slot)) good += 1;
      else {
        this.counts.damaged += 1;
        if (this.#doubted.has(record.partition)) continue;
        const { drive, segment, offset } = place;
        this.#problems.add('piece', `piece ${slot} of blob ${name} is not good at ${drive}/${segment}/${offset}`);
      }
    }
    return good;
  }

  #addLive({ drive, segment }: Place, bytes: number): void {
    let segments = this.live.get(drive);
    if (!segments) this.live.set(drive, (segments = new Map<number, number>()));
    segments.set(segment, (segments.get(segment) ?? 0) + bytes);
  }
}

function isAsWanted(record: BlobRecord, ring: Ring): boolean {
  const start = partitionInPolicy(record.partition) * ring.slots;
  return record.places.every((place, slot) => {
    const wanted = ring.drives[start + slot] ?? 0;
    return wanted === 0 || place?.drive === wanted;
  });
}

function partitionsIn(db: Reads, table: 'partitions' | 'doubts'): Set<number> {
  return new Set(db.all<{ partition: number }>(`SELECT partition FROM ${table}`).map(({ partition }) => partition));
}
