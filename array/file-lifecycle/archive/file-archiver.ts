import { bytes } from '@granary/kernel';
import { randomBytes } from 'node:crypto';
import { isEngineError } from '../../engine/errors.ts';
import type { ListedFile } from '../../engine/shares.ts';
import { referenceOf, type DestinationBuckets } from '../../object-storage-destinations/buckets.ts';
import { findDestination } from '../../object-storage-destinations/repository.ts';
import type { Destination } from '../../object-storage-destinations/destination.ts';
import type { ArrayTools } from '../../tools.ts';
import { batchesOf } from '../at-once.ts';
import type { FileOutcome } from '../figures.ts';
import {
  insertObject,
  markOrphan,
  markSeen,
  markStub,
  markUnneeded,
  recordUpload,
  removeObject,
} from './repository.ts';
import { upload } from './upload.ts';

/** Records changed in one transaction; other requests wait while it runs. */
const ROWS_AT_ONCE = 250;

interface WantedArchive {
  readonly file: ListedFile;
  /** Name of the object storage destination. */
  readonly destination: string;
}

/** A key that is on record for a file whose data is to go there. */
export interface Reservation {
  readonly file: ListedFile;
  readonly key: string;
  readonly destination: Destination;
  isBegun: boolean;
}

/**
 * Moves the data of files to buckets. First the key is on record, then the object is there, whole, then the file becomes
 * a stub: a crash in between leaves a file as it was and an object that is known and removed later. A key is never used
 * twice, so no object is ever written over: an older snapshot of the file may need what is there.
 */
export class FileArchiver {
  readonly #tools: ArrayTools;
  readonly #buckets: DestinationBuckets;

  constructor(tools: ArrayTools, buckets: DestinationBuckets) {
    this.#tools = tools;
    this.#buckets = buckets;
  }

  async reserve(volume: string, wanted: readonly WantedArchive[]): Promise<ReadonlyMap<ListedFile, Reservation>> {
    const reserved = new Map<ListedFile, Reservation>();
    for (const some of batchesOf(wanted, ROWS_AT_ONCE)) await this.#reserve(volume, some, reserved);
    return reserved;
  }

  async #reserve(
    volume: string,
    wanted: readonly WantedArchive[],
    reserved: Map<ListedFile, Reservation>,
  ): Promise<void> {
    const { store, clock, configuration } = this.#tools;
    const prefix = `${configuration().internalName}/${volume}`;
    await store.write((tx) => {
      const destinations = new Map<string, Destination | undefined>();
      for (const { file, destination: name } of wanted) {
        if (!destinations.has(name)) destinations.set(name, findDestination(tx, name));
        const destination = destinations.get(name);
        if (!destination) continue;
        const key = `${prefix}/${file.inode}-${file.generation}-${randomBytes(8).toString('hex')}`;
        const place = { key, volume, destination: referenceOf(destination) };
        insertObject(tx, { ...place, sizeBytes: bytes(file.sizeBytes), createdAt: clock.now() });
        reserved.set(file, { file, key, destination, isBegun: false });
      }
    });
  }

  /** Those nothing was sent for. */
  async release(reservations: readonly Reservation[]): Promise<void> {
    const unused = reservations.filter(({ isBegun }) => !isBegun);
    for (const some of batchesOf(unused, ROWS_AT_ONCE)) {
      await this.#tools.store.write((tx) => {
        for (const { key } of some) removeObject(tx, key);
      });
    }
  }

  async archive(volume: string, reservation: Reservation, signal: AbortSignal): Promise<FileOutcome> {
    const { store, engine } = this.#tools;
    const { file, key, destination } = reservation;
    reservation.isBegun = true;
    let sha256: string;
    try {
      sha256 = await this.#send(volume, reservation, signal);
    } catch (error) {
      await this.#giveUp(key);
      // It changed, or is gone, since the snapshot.
      if (isEngineError(error, 'not-found', 'conflict')) return { outcome: 'changed' };
      if (!signal.aborted) this.#buckets.drop(destination);
      throw error;
    }
    // After an error here it is not known whether there is a stub. After a refusal it may have been one for a moment, if a
    // controller failed, and a snapshot may have seen it. So the object stays until the next scan has looked.
    const isStub = await engine.archiveFile(volume, versionOf(file), { destination: referenceOf(destination), key });
    if (!isStub) return { outcome: 'changed' };
    await store.write((tx) => markStub(tx, key, sha256));
    return { outcome: 'handled' };
  }

  /** Before it is on record how far a scan is. */
  async markSeen(files: readonly ListedFile[], scanAt: number): Promise<void> {
    const keys = files.flatMap(({ archive }) => (archive ? [archive.key] : []));
    for (const some of batchesOf(keys, ROWS_AT_ONCE)) {
      await this.#tools.store.write((tx) => markSeen(tx, some, scanAt));
    }
  }

  /** After a scan that has seen all files of the share as they were at one moment. */
  async markUnneeded(volume: string, scanAt: number, momentAt: number): Promise<void> {
    const { store } = this.#tools;
    const scan = { volume, scanAt, momentAt };
    while (await store.write((tx) => markUnneeded(tx, scan, ROWS_AT_ONCE)));
  }

  async #send(volume: string, { file, key, destination }: Reservation, signal: AbortSignal): Promise<string> {
    const { engine, store } = this.#tools;
    const version = versionOf(file);
    return upload({
      bucket: await this.#buckets.open(destination, signal),
      key,
      source: {
        sizeBytes: file.sizeBytes,
        read: (offset, length) => engine.readFile(volume, version, offset, length),
      },
      onUpload: (id) => store.write((tx) => recordUpload(tx, key, id)),
    });
  }

  async #giveUp(key: string): Promise<void> {
    const { store, clock } = this.#tools;
    await store.write((tx) => markOrphan(tx, key, clock.now()));
  }
}

function versionOf({ inode, generation, change }: ListedFile) {
  return { inode, generation, change };
}
