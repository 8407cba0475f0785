import { mkdirSync, readFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** One initiator port that has registered a key with a unit. */
export interface Registration {
  readonly initiatorName: string;
  readonly isid: string;
  readonly targetName: string;
  /** Sixteen hexadecimal digits. */
  readonly key: string;
}

/** What a unit remembers through a loss of power. */
export interface ReservationState {
  readonly registrations: readonly Registration[];
  readonly reservation?: {
    readonly type: number;
    /** Position of the holder among the registrations; none when all registrants hold it. */
    readonly holder?: number;
  };
}

export interface ReservationStore {
  load(unitSerial: string): ReservationState | undefined;
  /** Resolves when the state survives a crash; `undefined` forgets it. */
  save(unitSerial: string, state: ReservationState | undefined): Promise<void>;
}

/** For units whose reservations need not outlive the process. */
export class MemoryReservationStore implements ReservationStore {
  readonly #states = new Map<string, ReservationState>();

  load(unitSerial: string): ReservationState | undefined {
    return this.#states.get(unitSerial);
  }

  save(unitSerial: string, state: ReservationState | undefined): Promise<void> {
    if (state === undefined) this.#states.delete(unitSerial);
    else this.#states.set(unitSerial, state);
    return Promise.resolve();
  }
}

/** One JSON file per unit; a file is replaced whole, so that a crash leaves the old state or the new one. */
export class FileReservationStore implements ReservationStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  load(unitSerial: string): ReservationState | undefined {
    try {
      return JSON.parse(readFileSync(this.#path(unitSerial), 'utf8')) as ReservationState;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async save(unitSerial: string, state: ReservationState | undefined): Promise<void> {
    const path = this.#path(unitSerial);
    if (state === undefined) {
      await rm(path, { force: true });
    } else {
      const fresh = `${path}.new`;
      const file = await open(fresh, 'w', 0o600);
      try {
        await file.writeFile(JSON.stringify(state));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(fresh, path);
    }
    await this.#syncFolder();
  }

  async #syncFolder(): Promise<void> {
    const folder = await open(this.#folder, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  /** Serials are not file names. */
  #path(unitSerial: string): string {
    return join(this.#folder, `${Buffer.from(unitSerial).toString('hex')}.json`);
  }
}
