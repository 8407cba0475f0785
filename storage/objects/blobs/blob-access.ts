import { StorageError } from '../../errors.ts';
import { rebuildFragments } from '../../kernels/index.ts';
import type { OpenDrives } from '../drives/drives.ts';
import type { PieceKey } from '../drives/piece-reading.ts';
import { pieceSeed } from '../drives/record.ts';
import { ObjectError } from '../errors.ts';
import type { BlobRecord, BlobRef, Place, PolicyLayout } from '../records.ts';
import { pieceLength, piecesToRead, slotsOf } from './pieces.ts';

/** Moves of one blob that a single read follows: each is a compaction or a repair. */
const LOOKUPS_MAX = 8;

export interface AccessOptions {
  readonly drives: OpenDrives;
  /** A piece is damaged or missing: to be repaired. */
  readonly onDamage: (blob: BlobRef, slot: number) => void;
  /** The blob as the index has it now: asked when a segment is gone, because compaction may have moved the piece. */
  readonly lookup?: ((blob: BlobRef) => BlobRecord | undefined) | undefined;
}

/** Blocks `first` up to, not including, `end` of every piece: a number of stripes. */
interface BlockSpan {
  readonly first: number;
  readonly end: number;
}

/** The pieces of one blob while it is read. What it gives was verified; what it cannot read it reports. */
export class BlobAccess {
  readonly policy: PolicyLayout;
  readonly #options: AccessOptions;
  readonly #length: number;
  #record: BlobRecord;
  /** Slots whose piece could not be read: others come first, and each is reported once. */
  readonly #failed = new Set<number>();
  #lookups = 0;
  #lastError: Error | undefined;

  constructor(options: AccessOptions, record: BlobRecord, policy: PolicyLayout) {
    this.#options = options;
    this.#record = record;
    this.policy = policy;
    this.#length = pieceLength(record.size, policy);
  }

  get record(): BlobRecord {
    return this.#record;
  }

  /** Blocks of whichever copy is good, at once where memory has them. */
  copy(span: BlockSpan): Buffer[] | Promise<Buffer[]> {
    const [slot] = this.#order();
    const place = slot === undefined ? undefined : this.#record.places[slot];
    const drive = place ? this.#options.drives.get(place.drive) : undefined;
    if (slot === undefined || !place || !drive) return this.#nextCopy(span, new Set());
    try {
      const data = drive.read(place, this.#keyOf(slot), span.first, span.end);
      return data instanceof Promise ? data.catch((error: unknown) => this.#otherCopy(span, slot, place, error)) : data;
    } catch (error) {
      return this.#otherCopy(span, slot, place, error);
    }
  }

  /** Blocks of each fragment of `wanted`: read where they are good, computed from any others where not. */
  async fragments(wanted: readonly number[], span: BlockSpan): Promise<Buffer[][]> {
    const found = new Map<number, Buffer[]>();
    const tried = wanted.filter((slot) => this.#isPromising(slot));
    await Promise.all(tried.map((slot) => this.#collect(found, slot, span)));
    if (found.size < wanted.length) await this.#decode(found, wanted, tried, span);
    return wanted.map((slot) => found.get(slot) as Buffer[]);
  }

  /** Blocks of one slot's piece as they stand, or would stand, in its segment. */
  async piece(slot: number, span: BlockSpan): Promise<Buffer[]> {
    if (this.policy.copies === 0) return (await this.fragments([slot], span))[0] as Buffer[];
    return (await this.#tryPiece(slot, span)) ?? this.#nextCopy(span, new Set([slot]));
  }

  async #otherCopy(span: BlockSpan, slot: number, place: Place, error: unknown): Promise<Buffer[]> {
    const again = await this.#afterFailure(slot, place, error, span);
    return again ?? this.#nextCopy(span, new Set([slot]));
  }

  async #nextCopy(span: BlockSpan, tried: ReadonlySet<number>): Promise<Buffer[]> {
    for (const slot of this.#order()) {
      if (tried.has(slot)) continue;
      const data = await this.#tryPiece(slot, span);
      if (data) return data;
    }
    throw this.#unreadable(0);
  }

  async #decode(
    found: Map<number, Buffer[]>,
    wanted: readonly number[],
    tried: readonly number[],
    span: BlockSpan,
  ): Promise<void> {
    const { dataFragments: k, parityFragments: m } = this.policy;
    const rest = this.#order().filter((slot) => !tried.includes(slot));
    while (found.size < k && rest.length > 0) {
      await Promise.all(rest.splice(0, k - found.size).map((slot) => this.#collect(found, slot, span)));
    }
    if (found.size < k) throw this.#unreadable(found.size);
    const missing = wanted.filter((slot) => !found.has(slot));
    for (const slot of missing) found.set(slot, []);
    for (let block = 0; block < span.end - span.first; block += 1) {
      const fragments = Array.from({ length: k + m }, (_, slot) => found.get(slot)?.[block]);
      const length = fragments.find((fragment) => fragment !== undefined)?.length ?? 0;
      const rebuilt = missing.map(() => Buffer.allocUnsafe(length));
      rebuildFragments(fragments, k, missing, rebuilt);
      missing.forEach((slot, index) => found.get(slot)?.push(rebuilt[index] as Buffer));
    }
  }

  async #collect(found: Map<number, Buffer[]>, slot: number, span: BlockSpan): Promise<void> {
    const data = await this.#tryPiece(slot, span);
    if (data) found.set(slot, data);
  }

  /** Undefined when the piece cannot be read. */
  async #tryPiece(slot: number, span: BlockSpan): Promise<Buffer[] | undefined> {
    const place = this.#record.places[slot];
    const drive = place ? this.#options.drives.get(place.drive) : undefined;
    if (!place || !drive) return undefined;
    try {
      return await drive.read(place, this.#keyOf(slot), span.first, span.end);
    } catch (error) {
      return this.#afterFailure(slot, place, error, span);
    }
  }

  /** Reads the piece where the index says that it is now, if it moved; else reports it. */
  async #afterFailure(slot: number, place: Place, error: unknown, span: BlockSpan): Promise<Buffer[] | undefined> {
    this.#lastError = error as Error;
    const code = error instanceof StorageError ? error.code : 'drive-failed';
    if (code === 'closed') return undefined;
    if (code === 'not-found' && this.#hasMoved(slot, place)) return this.#tryPiece(slot, span);
    const isNews = !this.#failed.has(slot);
    this.#failed.add(slot);
    if (code === 'drive-failed') this.#options.drives.reportFailure(place.drive, error as Error);
    if (isNews && (code === 'unreadable' || code === 'not-found')) this.#options.onDamage(this.#record, slot);
    return undefined;
  }

  /** Another read of the same blob may have asked the index already. */
  #hasMoved(slot: number, from: Place): boolean {
    if (this.#isElsewhere(slot, from)) return true;
    if (this.#lookups === LOOKUPS_MAX) return false;
    this.#lookups += 1;
    this.#record = this.#options.lookup?.(this.#record) ?? this.#record;
    return this.#isElsewhere(slot, from);
  }

  #isElsewhere(slot: number, from: Place): boolean {
    const now = this.#record.places[slot];
    if (!now) return false;
    return now.drive !== from.drive || now.segment !== from.segment || now.offset !== from.offset;
  }

  /**
   * Slots that have a piece, the promising ones first. Where it starts follows from the end of the id, which no blobs have
   * in common, so that reads spread over the drives, and the machine's memory holds one copy of what is read often, not all.
   */
  #order(): number[] {
    const slots = slotsOf(this.policy);
    const start = (this.#record.id.at(-1) ?? 0) % slots;
    const healthy: number[] = [];
    const others: number[] = [];
    for (let index = 0; index < slots; index += 1) {
      const slot = (start + index) % slots;
      if (this.#record.places[slot]) (this.#isPromising(slot) ? healthy : others).push(slot);
    }
    return others.length === 0 ? healthy : [...healthy, ...others];
  }

  #isPromising(slot: number): boolean {
    const place = this.#record.places[slot];
    return !!place && !this.#failed.has(slot) && this.#options.drives.isHealthy(place.drive);
  }

  #keyOf(slot: number): PieceKey {
    return { seed: pieceSeed(this.#record.id, slot, this.policy.dataFragments), length: this.#length };
  }

  #unreadable(good: number): ObjectError {
    const message = `${good} pieces of the blob can be read and ${piecesToRead(this.policy)} are needed.`;
    return new ObjectError('unreadable', message, this.#lastError ? { cause: this.#lastError } : undefined);
  }
}
