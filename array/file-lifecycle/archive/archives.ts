import { randomBytes } from 'node:crypto';
import type { Tx } from '@granary/kernel';
import { isEngineError } from '../../engine/errors.ts';
import type { ListedFile } from '../../engine/shares.ts';
import { referenceOf, type Buckets } from '../../object-storage-destinations/buckets.ts';
import { findDestination, type DestinationRow } from '../../object-storage-destinations/repository.ts';
import type { ArrayTools } from '../../tools.ts';
import type { FileOutcome } from '../scans/figures.ts';
import { insertObject, markOrphan, markSeen, markStub, noteUpload, removeObject } from './repository.ts';
import { upload } from './upload.ts';

interface WantedArchive {
  readonly file: ListedFile;
  /** Name of the object storage destination. */
  readonly destination: string;
}

/** A key that is on record for a file whose data is to go there. */
export interface Reservation {
  readonly file: ListedFile;
  readonly key: string;
  readonly destination: DestinationRow;
  isBegun: boolean;
}

/**
 * Moves the data of files to buckets. First the key is on record, then the object is there, whole, then the file becomes
 * a stub: a crash in between leaves a file as it was and an object that is known and removed later. A key is never used
 * twice, so no object is ever written over: an older snapshot of the file may need what is there.
 */
export class Archives {
  readonly #tools: ArrayTools;
  readonly #buckets: Buckets;

  constructor(tools: ArrayTools, buckets: Buckets) {
    this.#tools = tools;
    this.#buckets = buckets;
  }

  /** One transaction for all of them. */
  async reserve(volume: string, wanted: readonly WantedArchive[]): Promise<ReadonlyMap<ListedFile, Reservation>> {
    const { store, clock, configuration } = this.#tools;
    if (wanted.length === 0) return new Map();
    const prefix = `${configuration().internalName}/${volume}`;
    return store.write((tx) => {
      const destinations = new Map<string, DestinationRow | undefined>();
      const reserved = new Map<ListedFile, Reservation>();
      for (const { file, destination: name } of wanted) {
        if (!destinations.has(name)) destinations.set(name, findDestination(tx, name));
        const destination = destinations.get(name);
        if (!destination) continue;
        const key = `${prefix}/${file.inode}-${file.generation}-${randomBytes(8).toString('hex')}`;
        const place = { key, volume, destination: referenceOf(destination) };
        insertObject(tx, { ...place, size_bytes: file.sizeBytes, created_at: clock.now() });
        reserved.set(file, { file, key, destination, isBegun: false });
      }
      return reserved;
    });
  }

  /** Those nothing was sent for. */
  async release(reservations: readonly Reservation[]): Promise<void> {
    const unused = reservations.filter(({ isBegun }) => !isBegun);
    if (unused.length === 0) return;
    await this.#tools.store.write((tx) => {
      for (const { key } of unused) removeObject(tx, key);
    });
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
      if (!signal.aborted) this.#buckets.forget(destination);
      throw error;
    }
    // After an error here it is not known whether there is a stub. After a refusal it may have been one for a moment, if a
    // controller failed, and a snapshot may have seen it. So the object stays until the next scan has looked.
    const isStub = await engine.archiveFile(volume, versionOf(file), { destination: referenceOf(destination), key });
    if (!isStub) return { outcome: 'changed' };
    await store.write((tx) => markStub(tx, key, sha256));
    return { outcome: 'handled' };
  }

  /** In the transaction that records how far a scan is. */
  markSeen(tx: Tx, files: readonly ListedFile[], scanAt: number): void {
    const keys = files.flatMap(({ archive }) => (archive ? [archive.key] : []));
    if (keys.length > 0) markSeen(tx, keys, scanAt);
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
      onUpload: (id) => store.write((tx) => noteUpload(tx, key, id)),
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
