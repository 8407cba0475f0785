import { randomInt } from 'node:crypto';
import type { DriveFolder } from '../drives/drive-folder.ts';
import type { OpenDrives } from '../drives/drives.ts';
import { StorageError } from '../../errors.ts';
import { ObjectError } from '../errors.ts';
import type { Layout } from '../layout/layout.ts';
import type { NewBlob } from './new-blob.ts';
import { writeQuorum } from './pieces.ts';

/** Which drives the pieces of one new blob go to: those of the ring, and others in place of drives that fail. */
export class SlotDrives {
  readonly #blob: NewBlob;
  readonly #layout: Layout;
  readonly #drives: OpenDrives;
  /** Drives that have, or had, a piece of the blob: none gets a second one. */
  readonly #used = new Set<number>();
  #lastError: Error | undefined;
  #isFull = false;

  constructor(blob: NewBlob, layout: Layout, drives: OpenDrives) {
    this.#blob = blob;
    this.#layout = layout;
    this.#drives = drives;
    for (let slot = 0; slot < blob.ring.slots; slot += 1) this.#used.add(blob.ringDrive(slot));
  }

  /** The drive of the ring, or another one if that is not there or failed a moment ago. */
  first(slot: number): DriveFolder | undefined {
    const number = this.#blob.ringDrive(slot);
    return number !== 0 && this.#drives.isHealthy(number) ? this.#drives.get(number) : this.another();
  }

  /** A live drive of the policy that has no piece of this blob. */
  another(): DriveFolder | undefined {
    const candidates = this.#layout.drives.filter(
      ({ number, policy, state }) =>
        policy === this.#blob.policy.index &&
        state === 'normal' &&
        !this.#used.has(number) &&
        this.#drives.isHealthy(number),
    );
    const chosen = candidates.length === 0 ? undefined : candidates[randomInt(candidates.length)];
    if (!chosen) return undefined;
    this.#used.add(chosen.number);
    return this.#drives.get(chosen.number);
  }

  failed(drive: DriveFolder, error: unknown): void {
    this.#lastError = error as Error;
    if (!(error instanceof StorageError) || error.code === 'drive-failed') {
      this.#drives.reportFailure(drive.number, error as Error);
    } else if (error.code === 'no-space') this.#isFull = true;
  }

  /** Throws unless enough pieces are durable, or can still become so. */
  checkQuorum(pieces: number): void {
    const needed = writeQuorum(this.#blob.policy);
    if (pieces >= needed) return;
    const options = this.#lastError ? { cause: this.#lastError } : undefined;
    const message = `${pieces} of ${this.#blob.ring.slots} pieces can be written and ${needed} are needed`;
    if (this.#isFull) throw new ObjectError('no-space', `The drives are full: ${message}.`, options);
    throw new ObjectError('no-quorum', `Too few drives answer: ${message}.`, options);
  }
}
