import { closeSync, existsSync, fsyncSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { usageFailure } from '../exit.ts';

const DRIVE = /^drive-(\d{1,6})$/;
const MARK = 'creation-not-finished';
const METADATA_FILES = ['pool.db', 'pool.db-wal', 'pool.db-shm', 'pool.db-journal'];

/** The files of a throw-away pool: `pool.db`, and a `drive-N` for each drive. */
export class VolumeFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  get poolFile(): string {
    return join(this.path, 'pool.db');
  }

  driveFile(number: number): string {
    return join(this.path, driveId(number));
  }

  /** The numbers of the drives that are there; there may be gaps. */
  driveNumbers(): number[] {
    const numbers = readdirSync(this.path).map((name) => driveNumber(name));
    return numbers.filter((number) => number !== undefined).toSorted((one, other) => one - other);
  }

  driveBytesMax(): number {
    return Math.max(0, ...this.driveNumbers().map((number) => statSync(this.driveFile(number)).size));
  }

  /** True when there is nothing to open. What a creation that was cut off has left is cleared away. */
  isNew(): boolean {
    if (existsSync(join(this.path, MARK))) {
      this.#clear();
      return true;
    }
    if (existsSync(this.poolFile)) return false;
    const [drive] = this.driveNumbers();
    if (drive === undefined) return true;
    throw usageFailure(
      `--dir: ${this.driveFile(drive)} is there but pool.db is not; ` +
        'bring pool.db back, delete the drives, or choose another folder.',
    );
  }

  /** While the mark is there, nothing else in the folder is of any value. */
  markCreation(): void {
    const mark = openSync(join(this.path, MARK), 'w', 0o600);
    fsyncSync(mark);
    closeSync(mark);
    this.#sync();
  }

  /** Call when all is durable. The removal of the mark has to be durable before the first write. */
  unmarkCreation(): void {
    this.#sync();
    rmSync(join(this.path, MARK));
    this.#sync();
  }

  /** The mark stays until the next creation is done. */
  #clear(): void {
    for (const number of this.driveNumbers()) rmSync(this.driveFile(number));
    for (const name of METADATA_FILES) rmSync(join(this.path, name), { force: true });
  }

  #sync(): void {
    const folder = openSync(this.path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  }
}

export function driveId(number: number): string {
  return `drive-${number}`;
}

export function driveNumber(id: string): number | undefined {
  const digits = DRIVE.exec(id)?.[1];
  return digits === undefined || String(Number(digits)) !== digits ? undefined : Number(digits);
}
