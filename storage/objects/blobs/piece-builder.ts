import { StorageError } from '../../errors.ts';
import type { DriveFolder } from '../drives/drive-folder.ts';
import { checkedBlocks, paddingOf, wholePiece } from '../drives/piece-body.ts';
import { blockCount, type PieceHeader, pieceSeed, recordBytes } from '../drives/record.ts';
import { ObjectError } from '../errors.ts';
import type { Layout } from '../layout/layout.ts';
import type { BlobRecord, Place, PolicyLayout } from '../records.ts';
import { type AccessOptions, BlobAccess } from './blob-access.ts';
import { PACKED_BYTES_MAX, pieceLength, policyOfPartition, slotsOf } from './pieces.ts';

/** Blocks moved at a time. */
const BLOCKS_TOGETHER = 8;

export interface PieceBuilderOptions extends Pick<AccessOptions, 'drives' | 'lookup'> {
  readonly layout: () => Layout;
}

/**
 * Rebuilds pieces for repair and moving. What is encrypted stays so: no key is needed. Damage is not
 * reported: the repair finds it anyway.
 */
export class PieceBuilder {
  readonly #options: PieceBuilderOptions;

  constructor(options: PieceBuilderOptions) {
    this.#options = options;
  }

  /**
   * Writes the piece of a slot to a drive: from its present place where that is good, else from the other pieces.
   * Durable when it resolves; the index is the caller's. Rejects with `unreadable` when too few pieces are good, and
   * with a `StorageError` when the target fails.
   */
  async rebuild(record: BlobRecord, slot: number, targetDrive: number): Promise<{ place: Place; pieceBytes: number }> {
    const policy = this.#policyOf(record);
    const target = this.#options.drives.get(targetDrive);
    if (!target) throw new StorageError('drive-failed', `Drive ${targetDrive} is not open.`);
    const header = headerOf(record, policy, slot);
    const access = new BlobAccess({ ...this.#options, onDamage: () => undefined }, record, policy);
    const place =
      header.pieceLength <= PACKED_BYTES_MAX
        ? await this.#pack(access, header, target, record.places[slot]?.drive === targetDrive)
        : await this.#stream(access, header, target);
    return { place, pieceBytes: recordBytes(header.pieceLength) };
  }

  /** Reads a piece where it is: whether its header and every block are right. */
  async isGood(record: BlobRecord, slot: number): Promise<boolean> {
    const place = record.places[slot];
    const drive = place ? this.#options.drives.get(place.drive) : undefined;
    if (!place || !drive) return false;
    const { seed, header } = this.#expected(record, slot);
    try {
      if (!isSame(await drive.header(place), header)) return false;
      const blocks = blockCount(header.pieceLength);
      for (let first = 0; first < blocks; first += BLOCKS_TOGETHER) {
        const end = Math.min(first + BLOCKS_TOGETHER, blocks);
        await drive.read(place, { seed, length: header.pieceLength }, first, end);
      }
      return true;
    } catch (error) {
      if (error instanceof StorageError && error.code === 'drive-failed')
        this.#options.drives.reportFailure(drive.number, error);
      return false;
    }
  }

  #expected(record: BlobRecord, slot: number): { seed: number; header: PieceHeader } {
    const policy = this.#policyOf(record);
    return { seed: pieceSeed(record.id, slot, policy.dataFragments), header: headerOf(record, policy, slot) };
  }

  async #pack(access: BlobAccess, header: PieceHeader, target: DriveFolder, isReplacement: boolean): Promise<Place> {
    const blocks = await access.piece(header.slot, { first: 0, end: blockCount(header.pieceLength) });
    return target.append(header, wholePiece(blocks, seedOf(header), header.pieceLength), isReplacement);
  }

  async #stream(access: BlobAccess, header: PieceHeader, target: DriveFolder): Promise<Place> {
    const count = blockCount(header.pieceLength);
    const segment = await target.dedicate();
    try {
      for (let first = 0; first < count; first += BLOCKS_TOGETHER) {
        const blocks = await access.piece(header.slot, { first, end: Math.min(first + BLOCKS_TOGETHER, count) });
        await segment.write(checkedBlocks(blocks, seedOf(header), first));
      }
      const padding = Buffer.alloc(paddingOf(header.pieceLength));
      if (padding.length > 0) await segment.write({ buffers: [padding], bytes: padding.length });
      return await segment.finish(header);
    } catch (error) {
      await segment.abort();
      throw error;
    }
  }

  #policyOf(record: BlobRecord): PolicyLayout {
    const index = policyOfPartition(record.partition);
    const ring = this.#options.layout().rings.find((candidate) => candidate.policy.index === index);
    if (ring) return ring.policy;
    throw new ObjectError('no-such-policy', `There is no storage policy ${index}.`);
  }
}

function headerOf(record: BlobRecord, policy: PolicyLayout, slot: number): PieceHeader {
  const { id, partition, key, size: blobSize } = record;
  const { dataFragments } = policy;
  const length = pieceLength(blobSize, policy);
  return { id, partition, key, slot, slots: slotsOf(policy), dataFragments, pieceLength: length, blobSize };
}

function seedOf(header: PieceHeader): number {
  return pieceSeed(header.id, header.slot, header.dataFragments);
}

function isSame(found: PieceHeader | undefined, expected: PieceHeader): boolean {
  if (!found || Buffer.compare(found.id, expected.id) !== 0) return false;
  return found.slot === expected.slot && found.pieceLength === expected.pieceLength && found.key === expected.key;
}
