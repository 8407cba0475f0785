import { mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { EngineEvent } from '../../events.ts';
import type { GroupReport, Report } from '../../report.ts';
import { EmbeddedEngine } from '../embedded-engine.ts';
import type { EmbeddedEngineSetup, EngineDriveSetup } from '../setup.ts';

export const MIB = 1024 * 1024;
export const BLOCK = 4096;
export const FAST = { minimum: 1024 * MIB, maximum: 1024 * MIB };

/** An engine on sparse files of its own, and the events it published. */
export class EngineRig {
  readonly folder: string;
  readonly drives: readonly EngineDriveSetup[];
  readonly events: EngineEvent[] = [];
  readonly #more: Partial<EmbeddedEngineSetup>;
  engine: EmbeddedEngine;

  constructor(folder: string, drives: readonly EngineDriveSetup[], more: Partial<EmbeddedEngineSetup>) {
    this.folder = folder;
    this.drives = drives;
    this.#more = more;
    this.engine = this.#make();
  }

  drive(number: number): string {
    const drive = this.drives[number];
    if (!drive) throw new Error(`there is no drive ${number}`);
    return drive.id;
  }

  async reopen(): Promise<void> {
    await this.engine.close();
    await this.start();
  }

  async start(): Promise<void> {
    this.engine = this.#make();
    await this.engine.open();
  }

  /** The drive's file is somewhere else, as that of a machine that is down. */
  hide(number: number): void {
    const { file } = this.#setupOf(number);
    renameSync(file, `${file}.hidden`);
  }

  show(number: number): void {
    const { file } = this.#setupOf(number);
    renameSync(`${file}.hidden`, file);
  }

  /** As a crash may have left it. */
  rewriteBook(change: (text: string) => string): void {
    const file = join(this.folder, 'engine.json');
    writeFileSync(file, change(readFileSync(file, 'utf8')));
  }

  /** A mirror of two drives. */
  async mirror(id: string, first: number, second: number, spares: readonly number[] = []): Promise<number> {
    const { capacityBytes } = await this.engine.createGroup({
      id,
      protection: 'RAID1',
      drives: [this.drive(first), this.drive(second)],
      spares: spares.map((number) => this.drive(number)),
      stripeBytes: 64 * 1024,
      speed: FAST,
    });
    return capacityBytes;
  }

  /** A pool on a mirror of its own. */
  async pool(id: string, first: number, second: number): Promise<number> {
    const capacityBytes = await this.mirror(`group-of-${id}`, first, second);
    await this.engine.createPool({ id, mode: 'simple', groups: [`group-of-${id}`], capacityBytes });
    return capacityBytes;
  }

  async volume(id: string, pool: string, sizeBytes = 16 * MIB): Promise<void> {
    await this.engine.createVolume({ id, pool, sizeBytes, compression: false, deduplication: false });
  }

  async write(volume: string, offset: number, letter: string, length = BLOCK): Promise<void> {
    await this.engine.writeVolume(volume, offset, Buffer.alloc(length, letter));
  }

  /** The letter at the beginning of each block. */
  async read(volume: string, offset: number, blocks = 1): Promise<string> {
    const device = this.engine.device(volume);
    if (!device) throw new Error(`there is no volume ${volume}`);
    const bytes = Buffer.alloc(blocks * BLOCK);
    await device.read(offset, bytes);
    return lettersOf(bytes);
  }

  async readSnapshot(snapshot: string, offset: number, blocks = 1): Promise<string> {
    return lettersOf(Buffer.from(await this.engine.readSnapshot(snapshot, offset, blocks * BLOCK)));
  }

  async group(id: string): Promise<GroupReport> {
    const found = (await this.report()).groups.find((group) => group.id === id);
    if (!found) throw new Error(`there is no group ${id}`);
    return found;
  }

  report(since = 0): Promise<Report> {
    return this.engine.report(since);
  }

  /** Waits until the group is as it should be. */
  async groupIs(id: string, state: GroupReport['state']): Promise<GroupReport> {
    for (let round = 0; round < 6000; round++) {
      const group = await this.group(id);
      if (group.state === state) return group;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`group ${id} did not become ${state} but is ${(await this.group(id)).state}`);
  }

  /** Space comes back in the background. */
  async poolIsEmpty(id: string): Promise<void> {
    for (let round = 0; round < 6000; round++) {
      if ((await this.report()).pools.find((pool) => pool.id === id)?.usedBytes === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`pool ${id} did not become empty`);
  }

  async driveState(number: number): Promise<string | undefined> {
    return (await this.report()).drives.find(({ id }) => id === this.drive(number))?.state;
  }

  #setupOf(number: number): EngineDriveSetup {
    const drive = this.drives[number];
    if (!drive) throw new Error(`there is no drive ${number}`);
    return drive;
  }

  #make(): EmbeddedEngine {
    const { folder, drives, events } = this;
    return new EmbeddedEngine({ folder, drives, onEvent: (event) => events.push(event), ...this.#more });
  }
}

export interface RigOptions extends Partial<EmbeddedEngineSetup> {
  readonly count?: number;
  readonly driveMb?: number;
}

export async function engineRig(t: TestContext, options: RigOptions = {}): Promise<EngineRig> {
  const { count = 4, driveMb = 64, ...more } = options;
  const folder = mkdtempSync(join(tmpdir(), 'granary-engine-'));
  const drives = Array.from({ length: count }, (_, index) => driveIn(folder, index, driveMb * MIB));
  const rig = new EngineRig(folder, drives, more);
  t.after(async () => {
    await rig.engine.close();
    rmSync(folder, { recursive: true });
  });
  await rig.engine.open();
  return rig;
}

function driveIn(folder: string, index: number, sizeBytes: number): EngineDriveSetup {
  const file = join(folder, `${index}.drive`);
  writeFileSync(file, '');
  truncateSync(file, sizeBytes);
  return { id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`, file, sizeBytes };
}

function lettersOf(bytes: Buffer): string {
  let letters = '';
  for (let at = 0; at < bytes.length; at += BLOCK) {
    letters += bytes[at] === 0 ? '.' : String.fromCharCode(bytes[at] ?? 0);
  }
  return letters;
}
