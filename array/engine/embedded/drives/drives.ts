import { type DriveLoss, FileDrive, readSuperblock, shred, StorageError, wipeSuperblocks } from '@granary/storage';
import type { Work } from '../../work.ts';
import type { EngineDriveSetup } from '../setup.ts';
import { SwitchableDrive } from './switchable-drive.ts';

/** A drive of the array, whether it can be reached or not. */
export interface PlacedDrive {
  readonly setup: EngineDriveSetup;
  readonly drive: SwitchableDrive;
  /** Taken offline on purpose. */
  isOffline: boolean;
  /** Its file is not there. */
  isAbsent: boolean;
  /** Reserved by a job: being shredded. */
  isBusy: boolean;
  /** As it was last opened. */
  file: FileDrive | undefined;
  /** What was found at its path while it was in use. */
  loss: DriveLoss | undefined;
}

/** The drives the array was given, opened as far as they can be. */
export class EngineDrives {
  readonly #placed = new Map<string, PlacedDrive>();

  /** Knows exactly these from now on. Returns those that can be reached again, and those that are gone. */
  async follow(setups: readonly EngineDriveSetup[]): Promise<{ arrived: string[]; gone: string[] }> {
    const wanted = new Map(setups.map((setup) => [setup.id, setup]));
    const gone = [...this.#placed.values()].filter(({ setup }) => wanted.get(setup.id)?.file !== setup.file);
    for (const { setup, drive } of gone) {
      this.#placed.delete(setup.id);
      await drive.shut();
    }
    for (const setup of setups) {
      if (this.#placed.has(setup.id)) continue;
      const drive = new SwitchableDrive(setup.id, setup.sizeBytes);
      this.#placed.set(setup.id, {
        setup,
        drive,
        isOffline: false,
        isAbsent: true,
        isBusy: false,
        file: undefined,
        loss: undefined,
      });
    }
    return { arrived: await this.retry(), gone: gone.map(({ setup }) => setup.id) };
  }

  /** Opens what could not be opened before; returns what can be reached now. */
  async retry(): Promise<string[]> {
    const away = [...this.#placed.values()].filter(({ drive, isOffline }) => !drive.isPlugged && !isOffline);
    const opened = await Promise.all(
      away.map(async (placed) => ((await isUsable(placed)) && (await openInto(placed)) ? placed.setup.id : undefined)),
    );
    return opened.filter((id) => id !== undefined);
  }

  get(id: string): PlacedDrive {
    const placed = this.#placed.get(id);
    if (placed) return placed;
    throw new StorageError('not-found', `There is no drive ${id}.`);
  }

  find(id: string): PlacedDrive | undefined {
    return this.#placed.get(id);
  }

  all(): IterableIterator<PlacedDrive> {
    return this.#placed.values();
  }

  /** One that can be used. */
  reachable(id: string): SwitchableDrive {
    const { drive, isBusy } = this.get(id);
    if (isBusy) throw new StorageError('conflict', `Drive ${id} is being shredded; wait for that, or cancel it.`);
    if (drive.isPlugged) return drive;
    throw new StorageError('conflict', `Drive ${id} does not answer; bring it back first.`);
  }

  takeOffline(id: string): void {
    const placed = this.get(id);
    placed.isOffline = true;
    placed.drive.unplug();
  }

  /** What is at its path is not what was in use: its group goes on without it. */
  lose(id: string, loss: DriveLoss): void {
    const placed = this.get(id);
    placed.loss = loss;
    placed.drive.unplug(`is lost: ${loss.reason}`);
  }

  async bringOnline(id: string): Promise<void> {
    const placed = this.get(id);
    const { loss } = placed;
    const isItself = await isUsable(placed);
    placed.isOffline = false;
    // Reopened: a drive object that failed once refuses for good.
    if (!(await openInto(placed))) throw new StorageError('drive-failed', `Drive ${id} cannot be opened.`);
    // A blank drive is rebuilt; a copy of the old contents may lack later writes.
    if (loss && !isItself && (await this.groupOnRecord(id)) !== undefined) {
      this.lose(id, loss);
      throw new StorageError('conflict', `Drive ${id} is lost: ${loss.reason}; or put a blank file or disk there.`);
    }
  }

  /** Which group the drive says it belongs to. */
  async groupOnRecord(id: string): Promise<string | undefined> {
    const { drive } = this.get(id);
    if (!drive.isPlugged) return undefined;
    const found = await readSuperblock(drive).catch(() => undefined);
    return found?.superblock.groupId;
  }

  /** Nothing of what it held is taken for anything afterwards, and its file takes no room. */
  async clear(id: string): Promise<void> {
    const drive = this.reachable(id);
    await drive.discard(0, drive.sizeBytes);
    await wipeSuperblocks(drive);
  }

  async shred(id: string, from: number, work: Work): Promise<void> {
    const placed = this.get(id);
    const drive = this.reachable(id);
    placed.isBusy = true;
    try {
      await wipeSuperblocks(drive);
      await shred(drive, {
        from,
        ...(work.signal && { signal: work.signal }),
        onProgress: (at) => work.onProgress?.(at),
      });
      await drive.discard(0, drive.sizeBytes);
      await drive.flush();
    } finally {
      placed.isBusy = false;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#placed.values()].map(({ drive }) => drive.shut()));
  }
}

/**
 * A drive that was lost is used again when the very file is back, and whole. Another one in its place, even a copy, may
 * lack what was written since, which could not be detected.
 */
async function isUsable({ loss, file }: PlacedDrive): Promise<boolean> {
  if (loss === undefined || file === undefined) return true;
  if (loss.kind === 'damaged') return false;
  return (await file.inspect()).loss === undefined;
}

async function openInto(placed: PlacedDrive): Promise<boolean> {
  const { id, file: path, sizeBytes } = placed.setup;
  try {
    const size = sizeBytes > 0 ? { sizeBytes } : {};
    const opened = await FileDrive.open({ id, path, ...size, mustExist: true });
    await placed.drive.plug(opened);
    placed.file = opened;
    placed.isAbsent = false;
    placed.loss = undefined;
    return true;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
    placed.isAbsent = cause?.code === 'ENOENT';
    return false;
  }
}
