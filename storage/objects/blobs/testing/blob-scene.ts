import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenDrives } from '../../drives/drives.ts';
import { formatDrive } from '../../drives/identity.ts';
import { blockOffset, PIECE_BLOCK_BYTES } from '../../drives/record.ts';
import type { EncryptionState, Layout, LayoutDrive } from '../../layout/layout.ts';
import type { BlobRecord, BlobRef, Place, PolicyLayout } from '../../records.ts';
import { BlobReader } from '../blob-reader.ts';
import { BlobWriter } from '../blob-writer.ts';
import { PieceBuilder } from '../piece-builder.ts';
import { pieceLength, slotsOf } from '../pieces.ts';

const CAPACITY = 2 ** 32;
const PARTITIONS = 8;

export interface SceneOptions {
  readonly policy: PolicyLayout;
  /** Drives beyond one for each slot. */
  readonly spare?: number;
  readonly capacity?: number;
}

/** Drives in temporary folders with one policy over them, and all that reads and writes blobs there. */
export class BlobScene {
  readonly policy: PolicyLayout;
  readonly folder: string;
  readonly drives: OpenDrives;
  readonly writer: BlobWriter;
  readonly reader: BlobReader;
  readonly builder: PieceBuilder;
  readonly failures: { readonly drive: number; readonly error: Error }[] = [];
  readonly damages: { readonly blob: BlobRef; readonly slot: number }[] = [];
  layout: Layout;
  lookup: (blob: BlobRef) => BlobRecord | undefined = () => undefined;
  #segments = 0;

  private constructor(folder: string, policy: PolicyLayout, layout: Layout) {
    this.folder = folder;
    this.policy = policy;
    this.layout = layout;
    this.drives = new OpenDrives({
      nextSegment: () => Promise.resolve((this.#segments += 1)),
      onDriveFailure: (drive, error) => this.failures.push({ drive, error }),
    });
    const options = {
      layout: () => this.layout,
      drives: this.drives,
      onDamage: (blob: BlobRef, slot: number) => this.damages.push({ blob, slot }),
      lookup: (blob: BlobRef) => this.lookup(blob),
    };
    this.writer = new BlobWriter(options);
    this.reader = new BlobReader(options);
    this.builder = new PieceBuilder(options);
  }

  static async open({ policy, spare = 0, capacity = CAPACITY }: SceneOptions): Promise<BlobScene> {
    const folder = await mkdtemp(join(tmpdir(), 'granary-blobs-'));
    const slots = slotsOf(policy);
    const drives = Array.from({ length: slots + spare }, (_, index) => driveOf(folder, index + 1, capacity, policy));
    for (const { folder: home, uuid, number } of drives) await formatDrive(home, { uuid, number });
    const ring = Uint32Array.from({ length: PARTITIONS * slots }, (_, at) => {
      const partition = Math.floor(at / slots);
      return (((at % slots) + partition) % drives.length) + 1;
    });
    const layout: Layout = {
      version: 1,
      drives,
      rings: [{ policy, version: 1, partitions: PARTITIONS, slots, drives: ring }],
      defaultPolicy: policy.index,
      encryption: { writeKey: 0, keys: [] },
    };
    const scene = new BlobScene(folder, policy, layout);
    await scene.drives.update(layout);
    return scene;
  }

  async close(): Promise<void> {
    await this.drives.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Closes and opens all drives, as a new start of the process does. */
  async restart(): Promise<void> {
    await this.drives.update({ ...this.layout, drives: [] });
    await this.drives.update(this.layout);
  }

  encrypt(encryption: EncryptionState): void {
    this.layout = { ...this.layout, encryption };
  }

  folderOf(drive: number): string {
    return join(this.folder, String(drive));
  }

  segmentPath(place: Place): string {
    return join(this.folderOf(place.drive), 'segments', `${place.segment}.segment`);
  }

  /** Names of all segments on all drives. */
  async segmentFiles(): Promise<string[]> {
    const lists = this.layout.drives.map(({ number }) => readdir(join(this.folderOf(number), 'segments')));
    return (await Promise.all(lists)).flat();
  }

  async stage(body: Uint8Array | AsyncIterable<Uint8Array>, size?: number): Promise<BlobRecord> {
    return (await this.writer.stage(this.policy.index, body, size))[0]!;
  }

  /** Turns over one bit in a block of a piece. */
  async damage(record: BlobRecord, slot: number, at: number): Promise<void> {
    const place = record.places[slot]!;
    const position = at % pieceLength(record.size, this.policy);
    const block = Math.floor(position / PIECE_BLOCK_BYTES);
    await flip(this.segmentPath(place), place.offset + blockOffset(block) + (position % PIECE_BLOCK_BYTES));
  }
}

export async function flip(path: string, position: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const byte = Buffer.alloc(1);
    await file.read(byte, 0, 1, position);
    byte[0]! ^= 0x10;
    await file.write(byte, 0, 1, position);
  } finally {
    await file.close();
  }
}

export function copies(count: number): PolicyLayout {
  return { index: 3, name: `${count} copies`, copies: count, dataFragments: 0, parityFragments: 0 };
}

export function fragments(dataFragments: number, parityFragments: number): PolicyLayout {
  return { index: 4, name: `${dataFragments} + ${parityFragments}`, copies: 0, dataFragments, parityFragments };
}

/** The body in chunks of `bytes`. */
export async function* inChunks(body: Uint8Array, bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += bytes) yield body.subarray(at, at + bytes);
}

export async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

function driveOf(folder: string, number: number, capacity: number, policy: PolicyLayout): LayoutDrive {
  return {
    number,
    uuid: `00000000-0000-4000-8000-00000000000${number.toString(16)}`,
    folder: join(folder, String(number)),
    node: `node-${number}`,
    zone: `zone-${number}`,
    capacity,
    policy: policy.index,
    state: 'normal',
  };
}
