import { hash } from 'node:crypto';
import { setImmediate as yieldTurn } from 'node:timers/promises';
import type { Clock, Log, Store } from '@granary/kernel';
import type { LoggedLine } from '@granary/protocols/objects';
import { ObjectError, type Bucket, type Commit } from '@granary/storage/object-store';
import type { ObjectCatalogue } from '../engine/engine.ts';
import { dayOf, objectName } from './object-name.ts';
import * as repository from './repository.ts';
import type { Batch, Line, NewLine } from './repository.ts';

interface BucketLogOptions {
  /** A file of its own: it is written all the time, and no request waits for it. */
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly commit: Commit;
  readonly catalogue: Pick<ObjectCatalogue, 'bucketById' | 'bucket'>;
  readonly region: () => string;
}

const WRITE_EVERY_MS = 1_000;
const DELIVER_EVERY_MS = 60_000;
/** Lines that are not written yet; more are counted and not kept. */
const WAITING_MAX = 100_000;
const WRITTEN_AT_ONCE = 1_000;
/** Then the oldest go. */
const LINES_MAX = 1_000_000;
/** Of one object. */
const BATCH_LINES_MAX = 5_000;
const BATCH_BYTES_MAX = 2 ** 20;

/**
 * Server access logs of buckets. Lines are written to a file each second, and once a minute become objects in the bucket
 * that the settings name. What is in the file survives a crash: the name of an object is on record before it is written, so
 * that it is written once. Deliveries are no requests: a bucket that logs into itself logs none of them.
 */
export class BucketLogs {
  readonly #options: BucketLogOptions;
  #waiting: NewLine[] = [];
  #missed = 0;
  #turn: Promise<void> = Promise.resolve();
  #timers: NodeJS.Timeout[] = [];
  #isStopped = false;

  constructor(options: BucketLogOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timers = [
      setInterval(() => this.#quietly(() => this.#write()), WRITE_EVERY_MS).unref(),
      setInterval(() => this.#quietly(() => this.#deliverAll()), DELIVER_EVERY_MS).unref(),
    ];
  }

  add(lines: readonly LoggedLine[], at: number): void {
    for (const { bucket, line } of lines) {
      if (this.#waiting.length < WAITING_MAX) this.#waiting.push({ bucket, at, line });
      else this.#missed += 1;
    }
  }

  /** Everything that was added before is in objects when this resolves, as far as it can be. */
  deliver(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#write();
      await this.#deliverAll();
    });
  }

  /** Before the engine stops: an object that is being written is finished, and no other is begun. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#turn.catch(() => undefined);
  }

  /** After the last request: what is left becomes objects after the next start. */
  async finish(): Promise<void> {
    await this.#inTurn(() => this.#write());
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.catch(() => undefined).then(work);
    return this.#turn;
  }

  #quietly(work: () => Promise<void>): void {
    this.#inTurn(work).catch((error: unknown) =>
      this.#options.log.error({ error }, 'logs of buckets could not be written; their lines wait'),
    );
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.slice(0, WRITTEN_AT_ONCE);
      await this.#options.store.write((tx) => {
        repository.insertLines(tx, lines);
        repository.trimLines(tx, LINES_MAX);
      });
      this.#waiting = this.#waiting.slice(lines.length);
      await yieldTurn();
    }
    if (this.#missed === 0) return;
    this.#options.log.warn({ lines: this.#missed }, 'logs of buckets could not keep up; some requests are not in them');
    this.#missed = 0;
  }

  async #deliverAll(): Promise<void> {
    const { store, log } = this.#options;
    for (const bucket of store.read(repository.bucketsWithLines)) {
      try {
        while (!this.#isStopped && (await this.#deliverOne(bucket))) await yieldTurn();
      } catch (error) {
        log.warn({ error, bucket }, 'the log of a bucket could not be delivered; it is tried again');
      }
    }
  }

  /** Writes one object; whether there may be more. */
  async #deliverOne(bucket: number): Promise<boolean> {
    const { store, catalogue } = this.#options;
    const batch = store.read((db) => repository.findBatch(db, bucket)) ?? (await this.#begin(bucket));
    if (!batch) return false;
    const lines = store.read((db) => repository.linesUntil(db, bucket, batch.last));
    const target = catalogue.bucketById(batch.target);
    const source = catalogue.bucketById(bucket);
    if (target && source) {
      if (!hasRoom(target)) return false;
      await this.#put(source, target, batch, lines);
    }
    await store.write((tx) => repository.deleteBatch(tx, batch));
    return true;
  }

  /** Puts on record what becomes the next object. Without a place to go, lines go. */
  async #begin(id: number): Promise<Batch | undefined> {
    const { store, catalogue, clock, region, log } = this.#options;
    const lines = chosen(
      store.read((db) => repository.linesOf(db, id, BATCH_LINES_MAX)),
      catalogue.bucketById(id)?.settings.logging?.keyFormat === 'event-time',
    );
    const [first, last] = [lines[0], lines.at(-1)];
    if (!first || !last) return undefined;
    const source = catalogue.bucketById(id);
    const logging = source?.settings.logging;
    const target = logging && catalogue.bucket(source.account, logging.targetBucket);
    if (!target || target.settings.lockDefault !== undefined) {
      if (logging) log.warn({ bucket: id, target: logging.targetBucket }, 'the log of a bucket has no place to go');
      await store.write((tx) => repository.deleteBatch(tx, { bucket: id, last: last.id }));
      return this.#begin(id);
    }
    const key = objectName(logging, { source, region: region(), now: clock.now(), eventAt: first.at });
    const batch = { bucket: id, last: last.id, target: target.id, key };
    await store.write((tx) => repository.insertBatch(tx, batch));
    return batch;
  }

  async #put(source: Bucket, target: Bucket, { key }: Batch, lines: readonly Line[]): Promise<void> {
    const { commit, clock } = this.#options;
    const bytes = Buffer.from(lines.map(({ line }) => `${line}\n`).join(''));
    const encrypt = target.settings.encryption !== undefined;
    const grants = source.settings.logging?.grants;
    const owner = { to: target.account, permission: 'FULL_CONTROL' } as const;
    const args = {
      bucket: target.id,
      key,
      content: { kind: 'bytes', policy: target.policy, bytes: new Uint8Array(bytes), encrypt },
      size: bytes.length,
      etag: hash('md5', bytes, 'hex'),
      owner: target.settings.owner ?? target.account,
      attributes: {
        contentType: 'text/plain',
        ...(encrypt && { encryption: 'AES256' as const }),
        ...(grants && { grants: [owner, ...grants] }),
      },
      conditions: { ifNoneMatch: '*' },
      at: clock.now(),
    } as const;
    try {
      await commit('putObject', args);
    } catch (error) {
      // It was written before a crash.
      if (!(error instanceof ObjectError) || error.code !== 'precondition-failed') throw error;
    }
  }
}

/** As many as fit in one object; by the time of the event those of one day. */
function chosen(lines: readonly Line[], isByDay: boolean): Line[] {
  const found: Line[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += Buffer.byteLength(line.line) + 1;
    const isOtherDay = isByDay && found[0] !== undefined && dayOf(found[0].at) !== dayOf(line.at);
    if (found.length > 0 && (bytes > BATCH_BYTES_MAX || isOtherDay)) break;
    found.push(line);
  }
  return found;
}

/** Limits that were set over Swift hold here, too. */
function hasRoom({ settings: { quotaBytes, quotaObjects }, objects, bytes }: Bucket): boolean {
  if (quotaObjects !== undefined && objects >= quotaObjects) return false;
  return quotaBytes === undefined || bytes + BATCH_BYTES_MAX <= quotaBytes;
}
