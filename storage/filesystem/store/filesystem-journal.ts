import assert from 'node:assert/strict';
import type { BlockDevice } from '../../block-device.ts';
import { checksum } from '../../kernels/index.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { Batch, BATCH_HEADER_BYTES } from './batch.ts';
import { JOURNAL_START } from './layout.ts';
import type { Identity } from './node-cache.ts';

const MAGIC = 0x4a4e5247; // GRNJ
const MAGIC_AT = 0;
const CHECKSUM_AT = 4;
const OWNER_AT = 8;
const SEQUENCE_AT = 16;
const LENGTH_AT = 24;

/** The next write position: a block of the ring, and the number of the batch. */
export interface JournalPosition {
  readonly head: number;
  readonly sequence: number;
}

export interface SealedBatch {
  readonly batch: Batch;
  readonly at: JournalPosition;
  readonly blocks: number;
}

/**
 * The ring of batches. Each has the next number and a checksum over all of it. A batch is written when the one before
 * it is durable; so the first invalid batch is the end, and it was not acknowledged.
 */
export class FilesystemJournal {
  readonly #device: BlockDevice;
  readonly #identity: Identity;
  readonly blocks: number;
  /** The position of the next batch. */
  position: JournalPosition;
  usedBlocks = 0;
  #end = Infinity;

  constructor(device: BlockDevice, identity: Identity, blocks: number, position: JournalPosition) {
    this.#device = device;
    this.#identity = identity;
    this.blocks = blocks;
    this.position = position;
  }

  /** Batches before the position are no longer needed. */
  trim(position: JournalPosition): void {
    const needed = (this.position.head - position.head + this.blocks) % this.blocks;
    assert.ok(needed <= this.usedBlocks, 'a checkpoint frees batches of the journal and no others');
    this.usedBlocks = needed;
  }

  /** Reads from a position again. */
  rewind(position: JournalPosition): void {
    this.position = position;
    this.usedBlocks = 0;
  }

  /** Assigns the batch its place and number. */
  seal(batch: Batch): SealedBatch {
    batch.finish();
    const { head, sequence } = this.position;
    const blocks = Math.ceil(batch.length / BLOCK_BYTES);
    assert.ok(this.usedBlocks + blocks < this.blocks, 'operations are held back before the journal is full');
    const { bytes, length } = batch;
    bytes.fill(0, 0, BATCH_HEADER_BYTES);
    bytes.writeUInt32LE(MAGIC, MAGIC_AT);
    bytes.writeUInt32LE(this.#identity.owner[0], OWNER_AT);
    bytes.writeUInt32LE(this.#identity.owner[1], OWNER_AT + 4);
    bytes.writeDoubleLE(sequence, SEQUENCE_AT);
    bytes.writeUInt32LE(length, LENGTH_AT);
    bytes.writeUInt32LE(checksum(bytes, OWNER_AT, length, this.#identity.seed), CHECKSUM_AT);
    this.usedBlocks += blocks;
    this.position = { head: (head + blocks) % this.blocks, sequence: sequence + 1 };
    return { batch, at: { head, sequence }, blocks };
  }

  /** Writes it, in two parts at the end of the ring. */
  async write({ batch, at, blocks }: SealedBatch): Promise<void> {
    const whole = blocks * BLOCK_BYTES;
    const bytes = batch.bytes.length >= whole ? batch.bytes : Buffer.concat([batch.bytes], whole);
    const first = Math.min(blocks, this.blocks - at.head);
    await this.#device.write((JOURNAL_START + at.head) * BLOCK_BYTES, bytes.subarray(0, first * BLOCK_BYTES));
    if (first === blocks) return;
    await this.#device.write(JOURNAL_START * BLOCK_BYTES, bytes.subarray(first * BLOCK_BYTES, whole));
  }

  /** The batch with this number, and all after it, are invalid. */
  endAt(sequence: number): void {
    this.#end = sequence;
  }

  /** A batch that was rejected must not be found valid later, when its blocks hold other data. */
  async wipeEnd(): Promise<void> {
    if (this.#end === Infinity) return;
    await this.#device.write((JOURNAL_START + this.position.head) * BLOCK_BYTES, Buffer.alloc(BLOCK_BYTES));
    await this.#device.flush();
    this.#end = Infinity;
  }

  /** Reads the batch at the position and advances; undefined at the end. */
  async readNext(): Promise<Buffer | undefined> {
    const { head, sequence } = this.position;
    if (sequence === this.#end) return undefined;
    const block = Buffer.alloc(BLOCK_BYTES);
    await this.#read(head, block);
    const length = block.readUInt32LE(LENGTH_AT);
    const blocks = Math.ceil(length / BLOCK_BYTES);
    const isOurs =
      block.readUInt32LE(MAGIC_AT) === MAGIC &&
      block.readUInt32LE(OWNER_AT) === this.#identity.owner[0] &&
      block.readUInt32LE(OWNER_AT + 4) === this.#identity.owner[1] &&
      block.readDoubleLE(SEQUENCE_AT) === sequence;
    if (!isOurs || length < BATCH_HEADER_BYTES || this.usedBlocks + blocks >= this.blocks) return undefined;
    const bytes = Buffer.alloc(blocks * BLOCK_BYTES);
    await this.#read(head, bytes);
    if (bytes.readUInt32LE(CHECKSUM_AT) !== checksum(bytes, OWNER_AT, length, this.#identity.seed)) return undefined;
    this.usedBlocks += blocks;
    this.position = { head: (head + blocks) % this.blocks, sequence: sequence + 1 };
    return bytes.subarray(0, length);
  }

  async #read(head: number, into: Buffer): Promise<void> {
    const first = Math.min(into.length, (this.blocks - head) * BLOCK_BYTES);
    await this.#device.read((JOURNAL_START + head) * BLOCK_BYTES, into.subarray(0, first));
    if (first < into.length) await this.#device.read(JOURNAL_START * BLOCK_BYTES, into.subarray(first));
  }
}
