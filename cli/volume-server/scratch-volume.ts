import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { usageFailure } from '../exit.ts';
import { lockFolder } from './folder-lock.ts';
import {
  FaultyDrive,
  FileDrive,
  Pool,
  type RaidLevel,
  RaidGroup,
  type Volume,
  type VolumeOptions,
} from '@granary/storage';

export interface ScratchVolumeOptions {
  readonly folder: string;
  readonly sizeBytes: number;
  readonly level: RaidLevel;
  readonly drives: number;
  readonly reduction: VolumeOptions;
  readonly cacheBytes: number;
  readonly onEvent: (text: string) => void;
}

const MIB = 1024 * 1024;
const VOLUME = 'volume';

/** One volume on a pool of its own, in sparse files of one folder; opened again when the folder holds one already. */
export class ScratchVolume {
  readonly group: RaidGroup;
  readonly pool: Pool;
  readonly #options: ScratchVolumeOptions;
  readonly #drives: FaultyDrive[];
  readonly #lock: { release(): void };

  static async open(options: ScratchVolumeOptions): Promise<ScratchVolume> {
    const lock = lockFolder(options.folder);
    try {
      return await ScratchVolume.#openLocked(options, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  static async #openLocked(options: ScratchVolumeOptions, lock: { release(): void }): Promise<ScratchVolume> {
    const isNew = !existsSync(join(options.folder, 'pool.db'));
    const count = isNew ? options.drives : countDrives(options.folder);
    const drives: FaultyDrive[] = [];
    for (let index = 0; index < count; index++) drives.push(await openDrive(options, index));
    const onEvent = (event: object): void => options.onEvent(JSON.stringify(event));
    const group = isNew
      ? await RaidGroup.create({ id: 'group', level: options.level, members: drives, onEvent })
      : await RaidGroup.open({ drives, onEvent });
    const setup = {
      file: join(options.folder, 'pool.db'),
      groups: [group],
      onError: (error: unknown) => options.onEvent(String(error)),
    };
    const pool = isNew ? await Pool.create({ ...setup, id: 'pool', mode: 'simple' }) : Pool.open(setup);
    pool.setCacheBytes(options.cacheBytes);
    if (isNew) await pool.volumes.create({ id: VOLUME, sizeBytes: options.sizeBytes, options: options.reduction });
    const scratch = new ScratchVolume(options, group, pool, drives, lock);
    if (!isNew) await scratch.#checkSize();
    return scratch;
  }

  private constructor(
    options: ScratchVolumeOptions,
    group: RaidGroup,
    pool: Pool,
    drives: FaultyDrive[],
    lock: { release(): void },
  ) {
    this.#lock = lock;
    this.#options = options;
    this.group = group;
    this.pool = pool;
    this.#drives = drives;
  }

  get volume(): Volume {
    return this.pool.volumes.get(VOLUME);
  }

  /** The drive stops answering, as if its cable were pulled. */
  failDrive(index: number): void {
    this.#drive(index).fail();
  }

  /** The drive answers again; what it missed is copied to it. */
  async returnDrive(index: number): Promise<void> {
    const drive = this.#drive(index);
    drive.heal();
    await this.group.returnDrive(drive);
  }

  /** Puts an empty drive in the place of a member. */
  async replaceDrive(slot: number): Promise<void> {
    const drive = await openDrive(this.#options, this.#drives.length);
    this.#drives.push(drive);
    await this.group.replace(slot, drive);
  }

  async close(): Promise<void> {
    await this.pool.close();
    await this.group.close();
    this.#lock.release();
  }

  /** Larger is fine, smaller would cut off what a client has stored. */
  async #checkSize(): Promise<void> {
    const { sizeBytes } = this.volume;
    const wanted = this.#options.sizeBytes;
    if (wanted > sizeBytes) await this.pool.volumes.expand(VOLUME, wanted);
    if (wanted >= sizeBytes) return;
    await this.close();
    throw usageFailure(
      `--size: ${this.#options.folder} holds a volume of ${sizeBytes / MIB}M; it cannot become smaller.`,
    );
  }

  #drive(index: number): FaultyDrive {
    const drive = this.#drives[index];
    if (!drive) throw new RangeError(`there is no drive ${index}; they are 0 to ${this.#drives.length - 1}`);
    return drive;
  }
}

async function openDrive({ folder, sizeBytes, level, drives }: ScratchVolumeOptions, index: number) {
  const shares = level === 'RAID1' ? 1 : drives - 2;
  // Room for the group's own books, and some to spare.
  const bytes = Math.ceil(((sizeBytes / shares) * 1.01 + 64 * MIB) / MIB) * MIB;
  const file = await FileDrive.open({ id: `drive-${index}`, path: driveFile(folder, index), sizeBytes: bytes });
  return new FaultyDrive(file);
}

function countDrives(folder: string): number {
  let count = 0;
  while (existsSync(driveFile(folder, count))) count++;
  return count;
}

function driveFile(folder: string, index: number): string {
  return join(folder, `drive-${index}`);
}
