import { crc32 } from 'node:zlib';
import { BLOCK_BYTES } from '../../units.ts';

/** Blocks of one member that are written together with their checksums; without data only the checksums change. */
export interface ShardWrite {
  readonly slot: number;
  readonly row: number;
  readonly count: number;
  readonly data: Buffer | undefined;
  readonly entries: Uint32Array;
}

export interface RecordHeader {
  readonly groupId: string;
  readonly events: number;
  readonly generation: number;
  readonly index: number;
  readonly payloadBytes: number;
  readonly payloadChecksum: number;
  readonly writes: readonly {
    readonly slot: number;
    readonly row: number;
    readonly count: number;
    readonly hasData: boolean;
  }[];
}

const MAGIC = 'GRANJRNL';
const HEADER_BYTES = 16;
/** A header needs about 60 bytes for each write and is one block; a stripe has at most ten. */
export const RECORD_WRITES_MAX = 32;

export function recordBytes(writes: readonly ShardWrite[]): number {
  return BLOCK_BYTES + entriesBytes(writes) + dataBytes(writes);
}

/** A header block, the checksums, and the data blocks. */
export function encodeRecord(
  identity: Pick<RecordHeader, 'groupId' | 'events' | 'generation' | 'index'>,
  writes: readonly ShardWrite[],
): Buffer {
  const record = Buffer.alloc(recordBytes(writes));
  const payload = record.subarray(BLOCK_BYTES);
  let at = 0;
  for (const { entries } of writes) {
    for (const entry of entries) at = payload.writeUInt32LE(entry, at);
  }
  at = entriesBytes(writes);
  for (const { data } of writes) if (data !== undefined) at += data.copy(payload, at);
  const header: RecordHeader = {
    ...identity,
    payloadBytes: payload.length,
    payloadChecksum: crc32(payload),
    writes: writes.map(({ slot, row, count, data }) => ({ slot, row, count, hasData: data !== undefined })),
  };
  const text = Buffer.from(JSON.stringify(header));
  record.write(MAGIC, 0, 'latin1');
  record.writeUInt32LE(text.length, 8);
  record.writeUInt32LE(crc32(text), 12);
  text.copy(record, HEADER_BYTES, 0, BLOCK_BYTES - HEADER_BYTES);
  return record;
}

export function decodeHeader(block: Buffer): RecordHeader | undefined {
  if (block.toString('latin1', 0, 8) !== MAGIC) return undefined;
  const length = block.readUInt32LE(8);
  if (length > BLOCK_BYTES - HEADER_BYTES) return undefined;
  const text = block.subarray(HEADER_BYTES, HEADER_BYTES + length);
  if (crc32(text) !== block.readUInt32LE(12)) return undefined;
  return JSON.parse(text.toString()) as RecordHeader;
}

export function decodePayload(header: RecordHeader, payload: Buffer): ShardWrite[] | undefined {
  if (crc32(payload) !== header.payloadChecksum) return undefined;
  let entriesAt = 0;
  let dataAt = roundUp(header.writes.reduce((total, { count }) => total + count * 4, 0));
  return header.writes.map(({ slot, row, count, hasData }) => {
    const entries = new Uint32Array(count);
    for (let index = 0; index < count; index += 1) entries[index] = payload.readUInt32LE(entriesAt + index * 4);
    entriesAt += count * 4;
    const data = hasData ? payload.subarray(dataAt, dataAt + count * BLOCK_BYTES) : undefined;
    if (hasData) dataAt += count * BLOCK_BYTES;
    return { slot, row, count, data, entries };
  });
}

function entriesBytes(writes: readonly ShardWrite[]): number {
  return roundUp(writes.reduce((total, { count }) => total + count * 4, 0));
}

function dataBytes(writes: readonly ShardWrite[]): number {
  return writes.reduce((total, { data }) => total + (data?.length ?? 0), 0);
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}
