import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesFrom } from '../../../kernels/testing/buffers.ts';
import type { Place } from '../../records.ts';
import { DriveFolder } from '../drive-folder.ts';
import { formatDrive } from '../identity.ts';
import { checkedBlocks, cutIntoBlocks, paddingOf, wholePiece } from '../piece-body.ts';
import { type PieceHeader, pieceSeed } from '../record.ts';
import type { WalkedRecord } from '../walk.ts';

export const UUID = '00000000-0000-4000-8000-000000000001';

/** One drive in a temporary folder. */
export class DriveScene {
  readonly folder: string;
  readonly capacity: number;
  drive: DriveFolder;
  #segments: number;

  private constructor(folder: string, capacity: number, drive: DriveFolder) {
    this.folder = folder;
    this.capacity = capacity;
    this.drive = drive;
    this.#segments = 0;
  }

  static async open(capacity = 2 ** 32): Promise<DriveScene> {
    const folder = await mkdtemp(join(tmpdir(), 'granary-drive-'));
    await formatDrive(folder, { uuid: UUID, number: 7 });
    let scene: DriveScene | undefined = undefined as DriveScene | undefined;
    const nextSegment = () => Promise.resolve(scene ? scene.#next() : 0);
    const drive = await DriveFolder.open({ number: 7, uuid: UUID, folder, capacity, nextSegment });
    scene = new DriveScene(folder, capacity, drive);
    return scene;
  }

  #next(): number {
    return (this.#segments += 1);
  }

  /** As a new start of the process does. */
  async restart(): Promise<void> {
    await this.drive.close();
    const { folder, capacity } = this;
    const nextSegment = () => Promise.resolve(this.#next());
    this.drive = await DriveFolder.open({ number: 7, uuid: UUID, folder, capacity, nextSegment });
  }

  async close(): Promise<void> {
    await this.drive.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  path(place: Pick<Place, 'segment'>): string {
    return join(this.folder, 'segments', `${place.segment}.segment`);
  }

  put(header: PieceHeader, data: Buffer, isReplacement = false): Promise<Place> {
    return this.drive.append(header, wholePiece(cutIntoBlocks(data), seedOf(header), data.length), isReplacement);
  }

  /** Into a segment of its own, some blocks at a time. */
  async putAlone(header: PieceHeader, data: Buffer, blocksAtATime: number): Promise<Place> {
    const segment = await this.drive.dedicate();
    const blocks = cutIntoBlocks(data);
    for (let first = 0; first < blocks.length; first += blocksAtATime) {
      await segment.write(checkedBlocks(blocks.slice(first, first + blocksAtATime), seedOf(header), first));
    }
    const padding = Buffer.alloc(paddingOf(data.length));
    await segment.write({ buffers: [padding], bytes: padding.length });
    return segment.finish(header);
  }

  async read(place: Place, header: PieceHeader, first = 0, end = Infinity): Promise<Buffer> {
    const piece = { seed: seedOf(header), length: header.pieceLength };
    return Buffer.concat(await this.drive.read(place, piece, first, end));
  }

  async walk(segment: number): Promise<WalkedRecord[]> {
    const found: WalkedRecord[] = [];
    for await (const record of this.drive.walk(segment)) found.push(record);
    return found;
  }
}

export function pieceOf(seed: number, pieceLength: number, slot = 0): { header: PieceHeader; data: Buffer } {
  const id = Uint8Array.from(bytesFrom(seed * 77 + 5, 16));
  const header = {
    id,
    partition: seed,
    slot,
    slots: 3,
    dataFragments: 2,
    key: 0,
    pieceLength,
    blobSize: pieceLength * 2,
  };
  return { header, data: bytesFrom(seed + 1, pieceLength) };
}

function seedOf(header: PieceHeader): number {
  return pieceSeed(header.id, header.slot, header.dataFragments);
}
