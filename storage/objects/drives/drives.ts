import type { Layout, LayoutDrive } from '../layout/layout.ts';
import type { SegmentName } from '../layout/manager-types.ts';
import type { DriveActivity } from './activity.ts';
import { DriveFolder } from './drive-folder.ts';
import { OpenSegments } from './open-segments.ts';

/** A drive that failed is left alone for so long, unless nothing else has what is needed. */
const AVOID_MS = 5000;
const REOPEN_MS = 5000;
const CLOSE_IDLE_MS = 10_000;

export interface DrivesOptions {
  /** A number for a new segment that the drive never had before, whichever thread asks. */
  readonly nextSegment: (drive: number) => Promise<number>;
  /** A drive did not answer, or answered with an error; called for each failure. A full one has not failed. */
  readonly onDriveFailure: (drive: number, error: Error) => void;
}

/** The drives of a layout as one thread has them open. */
export class OpenDrives {
  readonly #options: DrivesOptions;
  readonly #folders = new Map<number, DriveFolder>();
  readonly #files = new OpenSegments();
  readonly #avoidUntil = new Map<number, number>();
  readonly #reopenAt = new Map<number, number>();
  readonly #timer: NodeJS.Timeout;
  #wanted: ReadonlyMap<number, LayoutDrive> = new Map();
  #updating: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: DrivesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#files.closeIdle(), CLOSE_IDLE_MS).unref();
  }

  /** Opens what is new and closes what is gone or absent. To be awaited before the layout is used. */
  update(layout: Layout): Promise<void> {
    this.#wanted = new Map(
      layout.drives.filter((drive) => drive.state !== 'absent').map((drive) => [drive.number, drive]),
    );
    this.#reopenAt.clear();
    this.#updating = this.#updating.then(() => this.#bringInLine());
    return this.#updating;
  }

  /** Undefined while it is not open. */
  get(drive: number): DriveFolder | undefined {
    const folder = this.#folders.get(drive);
    if (folder) return folder;
    const wanted = this.#wanted.get(drive);
    if (wanted && performance.now() >= (this.#reopenAt.get(drive) ?? Infinity)) {
      this.#reopenAt.delete(drive);
      this.#updating = this.#updating.then(() => this.#bringInLine());
    }
    return undefined;
  }

  /** Whether it is open and did not fail a moment ago. */
  isHealthy(drive: number): boolean {
    if (!this.#folders.has(drive)) return this.get(drive) !== undefined;
    const until = this.#avoidUntil.get(drive);
    if (until === undefined) return true;
    if (performance.now() < until) return false;
    this.#avoidUntil.delete(drive);
    return true;
  }

  /** Reports a failure and does not use the drive for a while. */
  reportFailure(drive: number, error: Error): void {
    this.#avoidUntil.set(drive, performance.now() + AVOID_MS);
    this.#options.onDriveFailure(drive, error);
  }

  /** Segments that this thread writes to now: what is in them may be in no index yet. */
  writtenSegments(): SegmentName[] {
    return [...this.#folders.values()].flatMap(({ number: drive, writtenSegments }) =>
      writtenSegments.map((segment) => ({ drive, segment })),
    );
  }

  /** By drive number, since each was opened here. */
  activity(): ReadonlyMap<number, DriveActivity> {
    return new Map([...this.#folders].map(([number, folder]) => [number, folder.activity()]));
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#wanted = new Map();
    await (this.#updating = this.#updating.then(() => this.#bringInLine()));
  }

  async #bringInLine(): Promise<void> {
    const gone = [...this.#folders.values()].filter((folder) => !this.#isWanted(folder));
    for (const folder of gone) this.#folders.delete(folder.number);
    await Promise.all(gone.map((folder) => folder.close()));
    for (const [number, folder] of this.#folders) {
      const wanted = this.#wanted.get(number);
      if (wanted) folder.adopt(wanted);
    }
    const missing = [...this.#wanted.values()].filter((drive) => !this.#folders.has(drive.number));
    await Promise.all(missing.map((drive) => this.#open(drive)));
  }

  #isWanted(folder: DriveFolder): boolean {
    const wanted = this.#wanted.get(folder.number);
    return wanted?.uuid === folder.uuid && wanted.folder === folder.folder;
  }

  async #open(drive: LayoutDrive): Promise<void> {
    if (this.#closed) return;
    const { number, uuid, folder, capacity, usedBytes } = drive;
    try {
      const nextSegment = () => this.#options.nextSegment(number);
      const opened = await DriveFolder.open({
        number,
        uuid,
        folder,
        capacity,
        usedBytes,
        nextSegment,
        open: this.#files,
      });
      this.#avoidUntil.delete(number);
      this.#folders.set(number, opened);
    } catch (error) {
      this.#reopenAt.set(number, performance.now() + REOPEN_MS);
      this.#options.onDriveFailure(number, error as Error);
    }
  }
}
