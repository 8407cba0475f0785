import { createHash, type Hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectionReason } from '@granary/kernel';
import { RemoteRefusal } from '@granary/protocols/s3/client';
import { EngineError } from '../../engine/errors.ts';
import type { EngineEvent } from '../../engine/events.ts';
import type { FileArchive } from '../../engine/shares.ts';
import type { DestinationBuckets } from '../../object-storage-destinations/buckets.ts';
import type { ArrayTools } from '../../tools.ts';
import { findVolume } from '../../volumes/repository.ts';
import { called } from '../../wording.ts';
import { findObject } from './repository.ts';

type WantedRecall = Extract<EngineEvent, { readonly type: 'recall-wanted' }>;
type WantedContents = Extract<EngineEvent, { readonly type: 'contents-wanted' }>;
type Wanted = WantedRecall | WantedContents;

const AT_ONCE = 4;
const WAITING_MAX = 10_000;
const PIECE_BYTES = 4 * 2 ** 20;
const TRIES_MAX = 3;
const RETRY_MS = 500;
/** The least time between two events of one share that its files cannot be read. */
const TOLD_EVERY_MS = 60_000;

/**
 * Brings the data of archived files back when clients read them. The stub says where it is, so this works for clones
 * and on another array that knows the bucket. A file is fetched piece by piece, and is visible when all of it is there
 * and, where its checksum is on record, proves to be what was sent. Of files in snapshots the engine is given the part
 * that it asks for, and nothing is brought back.
 */
export class RecallService {
  readonly #tools: ArrayTools;
  readonly #buckets: DestinationBuckets;
  readonly #stopping = new AbortController();
  /** In the order they came; those under way too. */
  readonly #wanted = new Map<string, Wanted>();
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #reportedAt = new Map<string, number>();

  constructor(tools: ArrayTools, buckets: DestinationBuckets) {
    this.#tools = tools;
    this.#buckets = buckets;
  }

  request(wanted: Wanted): void {
    const id = idOf(wanted);
    if (this.#wanted.has(id) || this.#stopping.signal.aborted) return;
    if (this.#wanted.size >= WAITING_MAX) {
      void this.#refuse(wanted, 'too many files are being recalled; try again later');
      return;
    }
    this.#wanted.set(id, wanted);
    this.#startNext();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#underWay.values());
  }

  #startNext(): void {
    for (const [id, wanted] of this.#wanted) {
      if (this.#underWay.size >= AT_ONCE || this.#stopping.signal.aborted) return;
      if (this.#underWay.has(id)) continue;
      const work = this.#bring(wanted).finally(() => {
        this.#wanted.delete(id);
        this.#underWay.delete(id);
        this.#startNext();
      });
      this.#underWay.set(id, work);
    }
  }

  /** Never rejects. */
  async #bring(wanted: Wanted): Promise<void> {
    try {
      if (wanted.type === 'recall-wanted') await this.#recall(wanted);
      else await this.#give(wanted);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#tools.log.warn({ error, wanted }, 'an archived file could not be read');
      await this.#refuse(wanted, reasonOf(error));
    }
  }

  async #recall({ volume, inode, generation, sizeBytes, archive }: WantedRecall): Promise<void> {
    const { engine } = this.#tools;
    const sha256 = createHash('sha256');
    for (let at = 0; at < sizeBytes; at += PIECE_BYTES) {
      const bytes = await this.#read(archive, at, Math.min(at + PIECE_BYTES, sizeBytes));
      sha256.update(bytes);
      await engine.writeRecall(volume, inode, generation, at, bytes);
    }
    this.#check(archive, sha256);
    await engine.finishRecall(volume, inode, generation);
  }

  async #give({ archive, sizeBytes, offset, length }: WantedContents): Promise<void> {
    const bytes = await this.#read(archive, offset, offset + length);
    // Of a part there is no checksum.
    if (length === sizeBytes) this.#check(archive, createHash('sha256').update(bytes));
    await this.#tools.engine.giveContents(archive, offset, bytes, '');
  }

  #check({ key }: FileArchive, sha256: Hash): void {
    const known = this.#tools.store.read((db) => findObject(db, key))?.sha256 ?? undefined;
    if (known !== undefined && known !== sha256.digest('hex')) throw new Error('the object is not what was archived');
  }

  async #read({ destination: reference, key }: FileArchive, start: number, end: number): Promise<Buffer> {
    const destination = this.#buckets.find(reference);
    if (!destination) throw new Error(`no object storage destination is known for ${reference}; create one`);
    for (let tries = 1; ; tries += 1) {
      try {
        const bucket = await this.#buckets.open(destination, this.#stopping.signal);
        return await bucket.read(key, start, end);
      } catch (error) {
        const isFinal = error instanceof RemoteRefusal && error.status < 500;
        if (isFinal || tries >= TRIES_MAX || this.#stopping.signal.aborted) throw error;
        this.#buckets.drop(destination);
        await sleep(RETRY_MS * tries, undefined, { signal: this.#stopping.signal });
      }
    }
  }

  async #refuse(wanted: Wanted, reason: string): Promise<void> {
    const { engine, log } = this.#tools;
    const { volume } = wanted;
    try {
      if (wanted.type === 'contents-wanted') await engine.giveContents(wanted.archive, wanted.offset, null, reason);
      else await engine.finishRecall(volume, wanted.inode, wanted.generation, reason);
      await this.#recordEvent(volume, reason);
    } catch (error) {
      // The client's next read requests it again.
      log.warn({ error, wanted }, 'the event of an archived file that could not be read was not recorded');
    }
  }

  async #recordEvent(volume: string, reason: string): Promise<void> {
    const { store, events, clock } = this.#tools;
    const now = clock.now();
    if (now - (this.#reportedAt.get(volume) ?? -Infinity) < TOLD_EVERY_MS) return;
    this.#reportedAt.set(volume, now);
    await store.write((tx) => {
      const present = findVolume(tx, volume);
      const title = `Archived files of share ${present ? called(present) : volume} cannot be read: ${reason}.`;
      events.record(tx, { severity: 'error', title, subject: `volume:${volume}` });
    });
  }
}

function idOf(wanted: Wanted): string {
  if (wanted.type === 'recall-wanted') return `${wanted.volume}/${wanted.inode}.${wanted.generation}`;
  const { archive, offset } = wanted;
  return `${archive.destination}/${archive.key} ${offset}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof RemoteRefusal || error instanceof EngineError) return error.message.replace(/\.$/, '');
  return connectionReason(error).replace(/\.$/, '');
}
