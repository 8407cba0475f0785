import { existsSync } from 'node:fs';
import { FaultyDrive, FileDrive, Pool, RaidGroup, type Volume } from '@granary/storage';
import { usageFailure } from '../exit.ts';
import { lockFolder } from './folder-lock.ts';
import { sizeText } from './size.ts';
import { driveId, driveNumber, VolumeFolder } from './volume-folder.ts';
import { checkSame, groupFor, type WantedVolume } from './wanted.ts';

export interface ScratchVolumeOptions extends WantedVolume {
  readonly folder: string;
  readonly cacheBytes: number;
  readonly onEvent: (text: string) => void;
}

const VOLUME = 'volume';

/** What is open so far, the last first. */
type Opened = { close(): unknown }[];

interface Parts {
  readonly folder: VolumeFolder;
  readonly group: RaidGroup;
  readonly pool: Pool;
  /** By the number in their name. */
  readonly drives: Map<number, FaultyDrive>;
  readonly opened: Opened;
}

/** One volume on a pool of its own, in sparse files of one folder; opened again when the folder holds one already. */
export class ScratchVolume {
  readonly group: RaidGroup;
  readonly pool: Pool;
  readonly #folder: VolumeFolder;
  readonly #drives: Map<number, FaultyDrive>;
  readonly #opened: Opened;

  static async open(options: ScratchVolumeOptions): Promise<ScratchVolume> {
    const lock = lockFolder(options.folder);
    const opened: Opened = [{ close: () => lock.release() }];
    try {
      const folder = new VolumeFolder(options.folder);
      const parts = folder.isNew() ? await create(options, folder, opened) : await reopen(options, folder, opened);
      parts.pool.setCacheBytes(options.cacheBytes);
      return new ScratchVolume(parts);
    } catch (error) {
      await closeAll(opened);
      throw error;
    }
  }

  private constructor({ folder, group, pool, drives, opened }: Parts) {
    this.#folder = folder;
    this.group = group;
    this.pool = pool;
    this.#drives = drives;
    this.#opened = opened;
  }

  get volume(): Volume {
    return this.pool.volumes.get(VOLUME);
  }

  /** What it is, in words: `2G on RAID1 of 2 drives, in /tmp/try`. */
  describe(): string {
    const { level, members } = this.group.state();
    return `${sizeText(this.volume.sizeBytes)} on ${level} of ${members.length} drives, in ${this.#folder.path}`;
  }

  /** The drive stops answering, as if its cable were pulled. */
  failDrive(number: number): void {
    this.#drive(number).fail();
  }

  /** The drive answers again; what it missed is copied to it. */
  async returnDrive(number: number): Promise<void> {
    const drive = await this.#driveBroughtBack(number);
    drive.heal();
    await this.group.returnDrive(drive);
  }

  /** Puts an empty drive in the place of a member, and tells its number. */
  async replaceDrive(number: number): Promise<number> {
    const { members } = this.group.state();
    const slot = members.findIndex((member) => member.driveId === driveId(number));
    if (slot < 0) {
      const names = members.map((member) => driveNumber(member.driveId));
      throw new RangeError(`drive ${number} is no member of the group; those are ${names.join(', ')}`);
    }
    const next = this.#nextNumber();
    await this.group.replace(slot, await this.#add(next, this.#folder.driveBytesMax()));
    return next;
  }

  async close(): Promise<void> {
    await closeAll(this.#opened);
  }

  /** A number is never used twice, for the drive it was may come back. */
  #nextNumber(): number {
    const members = this.group.state().members.map((member) => driveNumber(member.driveId) ?? 0);
    return Math.max(...members, ...this.#folder.driveNumbers(), ...this.#drives.keys()) + 1;
  }

  async #add(number: number, sizeBytes: number): Promise<FaultyDrive> {
    const drive = await openDrive(this.#folder, number, sizeBytes);
    this.#drives.set(number, drive);
    // Drives are closed after the group, which writes to them to the last.
    this.#opened.splice(-1, 0, drive);
    return drive;
  }

  async #driveBroughtBack(number: number): Promise<FaultyDrive> {
    const isNew = !this.#drives.has(number) && existsSync(this.#folder.driveFile(number));
    return isNew ? this.#add(number, this.#folder.driveBytesMax()) : this.#drive(number);
  }

  #drive(number: number): FaultyDrive {
    const drive = this.#drives.get(number);
    if (drive) return drive;
    throw new RangeError(`there is no drive ${number}; there are ${[...this.#drives.keys()].join(', ')}`);
  }
}

async function create(options: ScratchVolumeOptions, folder: VolumeFolder, opened: Opened): Promise<Parts> {
  const { level, count, driveBytes } = groupFor(options);
  folder.markCreation();
  const drives = await openDrives(
    folder,
    Array.from({ length: count }, (_, number) => number),
    driveBytes,
    opened,
  );
  const group = await RaidGroup.create({ id: 'group', level, members: [...drives.values()], ...listener(options) });
  opened.unshift(group);
  const pool = await Pool.create({ ...poolSetup(options, folder, group), id: 'pool', mode: 'simple' });
  opened.unshift(pool);
  const { compression, deduplication } = options;
  await pool.volumes.create({
    id: VOLUME,
    sizeBytes: options.sizeBytes,
    options: { compression, deduplication },
  });
  folder.unmarkCreation();
  return { folder, group, pool, drives, opened };
}

async function reopen(options: ScratchVolumeOptions, folder: VolumeFolder, opened: Opened): Promise<Parts> {
  const drives = await openDrives(folder, folder.driveNumbers(), folder.driveBytesMax(), opened);
  const group = await RaidGroup.open({ drives: [...drives.values()], ...listener(options) });
  opened.unshift(group);
  const pool = Pool.open(poolSetup(options, folder, group));
  opened.unshift(pool);
  checkSame(options, folder.path, group, pool.volumes.get(VOLUME));
  await resize(pool, options);
  return { folder, group, pool, drives, opened };
}

/** Smaller would cut off what a client has stored; larger has to fit on the drives, which stay as they are. */
async function resize(pool: Pool, { folder, sizeBytes: wanted }: ScratchVolumeOptions): Promise<void> {
  const { sizeBytes } = pool.volumes.get(VOLUME);
  if (wanted === sizeBytes) return;
  if (wanted < sizeBytes) {
    throw usageFailure(`--size: ${folder} holds a volume of ${sizeText(sizeBytes)}; it cannot become smaller.`);
  }
  const { totalBytes } = pool.usage();
  if (wanted > totalBytes) {
    const what = `--size: the drives in ${folder} have room for ${sizeText(totalBytes)}`;
    throw usageFailure(`${what}; choose another folder for a larger volume.`);
  }
  await pool.volumes.expand(VOLUME, wanted);
}

async function openDrives(
  folder: VolumeFolder,
  numbers: readonly number[],
  sizeBytes: number,
  opened: Opened,
): Promise<Map<number, FaultyDrive>> {
  const drives = new Map<number, FaultyDrive>();
  for (const number of numbers) {
    const drive = await openDrive(folder, number, sizeBytes);
    drives.set(number, drive);
    opened.unshift(drive);
  }
  return drives;
}

async function openDrive(folder: VolumeFolder, number: number, sizeBytes: number): Promise<FaultyDrive> {
  return new FaultyDrive(
    await FileDrive.open({
      id: driveId(number),
      path: folder.driveFile(number),
      ...(sizeBytes > 0 && { sizeBytes }),
    }),
  );
}

function listener({ onEvent }: ScratchVolumeOptions): { onEvent: (event: object) => void } {
  return { onEvent: (event) => onEvent(JSON.stringify(event)) };
}

function poolSetup({ onEvent }: ScratchVolumeOptions, folder: VolumeFolder, group: RaidGroup) {
  return { file: folder.poolFile, groups: [group], onError: (error: unknown) => onEvent(String(error)) };
}

/** All are closed, whatever happens to one of them. */
async function closeAll(opened: Opened): Promise<void> {
  const errors: unknown[] = [];
  for (const each of opened.splice(0)) {
    try {
      await each.close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
