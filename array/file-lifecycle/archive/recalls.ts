import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectionReason } from '@granary/kernel';
import { RemoteRefusal } from '@granary/protocols/s3/client';
import { EngineError } from '../../engine/errors.ts';
import type { EngineEvent } from '../../engine/events.ts';
import type { Buckets } from '../../object-storage-destinations/buckets.ts';
import type { ArrayTools } from '../../tools.ts';
import { findVolume } from '../../volumes/repository.ts';
import { called } from '../../wording.ts';
import { findObject } from './repository.ts';

export type WantedRecall = Extract<EngineEvent, { readonly type: 'recall-wanted' }>;

const AT_ONCE = 4;
const WAITING_MAX = 10_000;
const PIECE_BYTES = 4 * 2 ** 20;
const TRIES_MAX = 3;
const RETRY_MS = 500;
/** Of one share it is told once in so long that its files cannot be read. */
const TOLD_EVERY_MS = 60_000;

/**
 * Brings the data of archived files back when somebody reads them. The stub says where it is, so this works for clones
 * and on another array that knows the bucket. A file is fetched piece by piece; nobody sees it before all of it is there
 * and, where its checksum is on record, proves to be what was sent.
 */
export class Recalls {
  readonly #tools: ArrayTools;
  readonly #buckets: Buckets;
  readonly #stopping = new AbortController();
  /** In the order they came; those under way too. */
  readonly #wanted = new Map<string, WantedRecall>();
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #toldAt = new Map<string, number>();

  constructor(tools: ArrayTools, buckets: Buckets) {
    this.#tools = tools;
    this.#buckets = buckets;
  }

  want(recall: WantedRecall): void {
    const id = idOf(recall);
    if (this.#wanted.has(id) || this.#stopping.signal.aborted) return;
    if (this.#wanted.size >= WAITING_MAX) {
      void this.#refuse(recall, 'too many files are being recalled; try again later');
      return;
    }
    this.#wanted.set(id, recall);
    this.#startNext();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#underWay.values());
  }

  #startNext(): void {
    for (const [id, recall] of this.#wanted) {
      if (this.#underWay.size >= AT_ONCE || this.#stopping.signal.aborted) return;
      if (this.#underWay.has(id)) continue;
      const work = this.#recall(recall).finally(() => {
        this.#wanted.delete(id);
        this.#underWay.delete(id);
        this.#startNext();
      });
      this.#underWay.set(id, work);
    }
  }

  /** Never rejects. */
  async #recall(recall: WantedRecall): Promise<void> {
    const { engine, log } = this.#tools;
    const { volume, inode, generation } = recall;
    try {
      await this.#fetch(recall);
      await engine.finishRecall(volume, inode, generation);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      log.warn({ error, recall }, 'an archived file could not be brought back');
      await this.#refuse(recall, reasonOf(error));
    }
  }

  async #fetch({ volume, inode, generation, sizeBytes, archive }: WantedRecall): Promise<void> {
    const { engine, store } = this.#tools;
    const sha256 = createHash('sha256');
    for (let at = 0; at < sizeBytes; at += PIECE_BYTES) {
      const bytes = await this.#read(archive, at, Math.min(at + PIECE_BYTES, sizeBytes));
      sha256.update(bytes);
      await engine.writeRecall(volume, inode, generation, at, bytes);
    }
    const known = store.read((db) => findObject(db, archive.key))?.sha256 ?? undefined;
    if (known !== undefined && known !== sha256.digest('hex')) throw new Error('the object is not what was archived');
  }

  async #read({ destination: reference, key }: WantedRecall['archive'], start: number, end: number): Promise<Buffer> {
    const destination = this.#buckets.find(reference);
    if (!destination) throw new Error(`no object storage destination is known for ${reference}; create one`);
    for (let tries = 1; ; tries += 1) {
      try {
        const bucket = await this.#buckets.open(destination, this.#stopping.signal);
        return await bucket.read(key, start, end);
      } catch (error) {
        const isFinal = error instanceof RemoteRefusal && error.status < 500;
        if (isFinal || tries >= TRIES_MAX || this.#stopping.signal.aborted) throw error;
        this.#buckets.forget(destination);
        await sleep(RETRY_MS * tries, undefined, { signal: this.#stopping.signal });
      }
    }
  }

  async #refuse({ volume, inode, generation }: WantedRecall, reason: string): Promise<void> {
    const { engine, log } = this.#tools;
    try {
      await engine.finishRecall(volume, inode, generation, reason);
      await this.#tell(volume, reason);
    } catch (error) {
      // Whoever reads it asks for it again.
      log.warn({ error, volume, inode }, 'that a recall failed could not be told');
    }
  }

  async #tell(volume: string, reason: string): Promise<void> {
    const { store, events, clock } = this.#tools;
    const now = clock.now();
    if (now - (this.#toldAt.get(volume) ?? -Infinity) < TOLD_EVERY_MS) return;
    this.#toldAt.set(volume, now);
    await store.write((tx) => {
      const row = findVolume(tx, volume);
      const title = `Archived files of share ${row ? called(row) : volume} cannot be read: ${reason}.`;
      events.record(tx, { severity: 'error', title, subject: `volume:${volume}` });
    });
  }
}

function idOf({ volume, inode, generation }: WantedRecall): string {
  return `${volume}/${inode}.${generation}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof RemoteRefusal || error instanceof EngineError) return error.message.replace(/\.$/, '');
  return connectionReason(error).replace(/\.$/, '');
}
