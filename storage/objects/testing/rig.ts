import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkObjects } from '../check/check.ts';
import { BlobReader } from '../blobs/blob-reader.ts';
import { BlobWriter } from '../blobs/blob-writer.ts';
import { PieceBuilder } from '../blobs/piece-builder.ts';
import { OpenDrives } from '../drives/drives.ts';
import { IndexReader } from '../index/reader.ts';
import { IndexWriter } from '../index/writer.ts';
import type { StorageManagerOptions } from '../layout/manager-options.ts';
import { StorageManager } from '../layout/storage-manager.ts';
import type { StorageEvent, WantedDrive, WantedPolicy } from '../layout/manager-types.ts';
import type { Layout } from '../layout/layout.ts';
import { Repairer } from '../repair/repairer.ts';
import type { BlobRecord, ObjectVersion, StagedBlob } from '../records.ts';

export const TWO_COPIES: WantedPolicy = { name: 'two', copies: 2, dataFragments: 0, parityFragments: 0 };
export const THREE_COPIES: WantedPolicy = { name: 'three', copies: 3, dataFragments: 0, parityFragments: 0 };
export const FOUR_PLUS_TWO: WantedPolicy = { name: 'coded', copies: 0, dataFragments: 4, parityFragments: 2 };

const GIB = 2 ** 30;
const RESTED_MS = 200;

/** What a thread of the array has: its own drives, reader of the index, and worker. */
class RigThread {
  readonly drives: OpenDrives;
  readonly reader: IndexReader;
  readonly writer: BlobWriter;
  readonly blobs: BlobReader;
  readonly repairer: Repairer;
  #layout: Layout;

  constructor(rig: Rig) {
    this.#layout = rig.manager.layout();
    const layout = () => this.#layout;
    this.drives = new OpenDrives({
      nextSegment: (drive) => rig.manager.nextSegment(drive),
      onDriveFailure: (drive, error) => rig.manager.driveFailed(drive, error.message),
    });
    this.reader = new IndexReader(rig.indexFile);
    const lookup = (blob: { partition: number; id: Uint8Array }): BlobRecord | undefined =>
      this.reader.blob(blob.partition, blob.id);
    const onDamage = (blob: { partition: number }) => rig.manager.onDamage(blob.partition);
    this.writer = new BlobWriter({ layout, drives: this.drives });
    this.blobs = new BlobReader({ layout, drives: this.drives, onDamage, lookup });
    const pieces = new PieceBuilder({ layout, drives: this.drives, lookup });
    const commit = rig.index.commit;
    this.repairer = new Repairer({ layout, drives: this.drives, pieces, index: this.reader, commit });
  }

  async use(layout: Layout): Promise<void> {
    await this.drives.update(layout);
    this.#layout = layout;
  }

  async close(): Promise<void> {
    await this.drives.close();
    this.reader.close();
  }
}

/** An array's bytes without its protocols: index, manager and threads over real folders. */
export class Rig {
  readonly folder: string;
  readonly indexFile: string;
  readonly events: StorageEvent[] = [];
  readonly errors: Error[] = [];
  readonly options: Partial<StorageManagerOptions>;
  /** What was put, by key. */
  readonly objects = new Map<string, Buffer>();
  expansionPercent = 100;
  drives: WantedDrive[] = [];
  policies: WantedPolicy[] = [];
  index!: IndexWriter;
  manager!: StorageManager;
  threads: RigThread[] = [];
  bucket = 0;

  private constructor(folder: string, options: Partial<StorageManagerOptions>) {
    this.folder = folder;
    this.indexFile = join(folder, 'index.db');
    this.options = options;
  }

  static async make(
    policy: WantedPolicy,
    drives: number,
    options: Partial<StorageManagerOptions> = {},
    driveOf: (number: number) => Partial<WantedDrive> = () => ({}),
  ): Promise<Rig> {
    return Rig.open(await mkdtemp(join(tmpdir(), 'granary-manager-')), policy, drives, options, driveOf);
  }

  /** One that was there before goes on. */
  static async open(
    folder: string,
    policy: WantedPolicy,
    drives: number,
    options: Partial<StorageManagerOptions> = {},
    driveOf: (number: number) => Partial<WantedDrive> = () => ({}),
  ): Promise<Rig> {
    const rig = new Rig(folder, options);
    rig.policies = [policy];
    for (let number = 1; number <= drives; number += 1) rig.addDrive(driveOf(number));
    await rig.start();
    const account = '0'.repeat(32);
    const known = rig.index.reader.bucket(account, 'bucket');
    const made =
      known ??
      (await rig.index.commit('createBucket', {
        account,
        name: 'bucket',
        policy: 0,
        lockable: false,
        settings: {},
        at: Date.now(),
      }));
    rig.bucket = made.id;
    return rig;
  }

  addDrive(more: Partial<WantedDrive> = {}): WantedDrive {
    const number = this.drives.length + 1;
    const drive: WantedDrive = {
      uuid: `uuid-${number}`,
      folder: join(this.folder, `drive-${number}`),
      node: `node-${number}`,
      zone: 'zone',
      capacity: GIB,
      policy: null,
      ...more,
    };
    this.drives = [...this.drives, drive];
    return drive;
  }

  async start(): Promise<void> {
    this.index = new IndexWriter(this.indexFile);
    this.manager = await StorageManager.open({
      index: this.index,
      workers: () => this.threads.map(({ repairer }) => repairer),
      expansionPercent: () => this.expansionPercent,
      onEvent: (event) => this.events.push(event),
      onError: (error) => this.errors.push(error),
      tickMs: 50,
      lostAfterMs: 60_000,
      ...this.options,
    });
    this.threads = [new RigThread(this), new RigThread(this)];
    this.manager.onLayout(async (layout) => {
      await Promise.all(this.threads.map((thread) => thread.use(layout)));
    });
    await this.follow();
  }

  follow(): Promise<void> {
    return this.manager.follow({ drives: this.drives, policies: this.policies });
  }

  /** Ends it in an orderly way; folders stay. */
  async stop(): Promise<void> {
    await this.manager.close();
    await Promise.all(this.threads.map((thread) => thread.close()));
    this.threads = [];
    await this.index.close();
  }

  /** Everything must fit; folders are removed. */
  async endWell(): Promise<void> {
    await this.stop();
    const report = await checkObjects(this.indexFile);
    if (report.problemCount > 0) throw new Error(JSON.stringify(report.problems.slice(0, 5)));
    if (report.pieces.damaged > 0) throw new Error(`${report.pieces.damaged} pieces are damaged`);
  }

  async remove(): Promise<void> {
    if (this.threads.length > 0) await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  async put(key: string, body: Buffer): Promise<void> {
    await this.enter(key, body, await this.stage(body));
  }

  /** Puts bytes on drives: the first half of putting an object. */
  stage(body: Buffer): Promise<StagedBlob[]> {
    const writers = [this.manager, ...this.threads.map(({ writer }) => writer)];
    return writers[Math.floor(Math.random() * writers.length)]!.stage(0, body);
  }

  /** Enters what was staged: the second half. */
  async enter(key: string, body: Buffer, blobs: StagedBlob[]): Promise<void> {
    await this.index.commit('putObject', {
      bucket: this.bucket,
      key,
      content: blobs.length === 0 ? { kind: 'empty' } : { kind: 'staged', blobs },
      size: body.length,
      etag: '0',
      owner: '0'.repeat(32),
      attributes: {},
      at: Date.now(),
    });
    this.objects.set(key, body);
  }

  /** Small objects, many at once. */
  async putMany(count: number, name = 'key', bytes = 2000): Promise<void> {
    const keys = Array.from({ length: count }, (_, at) => `${name}-${at}`);
    for (let done = 0; done < count; done += 32) {
      await Promise.all(
        keys.slice(done, done + 32).map((key) => this.put(key, randomBytes(1 + Math.floor(Math.random() * bytes)))),
      );
    }
  }

  async delete(key: string): Promise<void> {
    await this.index.commit('deleteObject', { bucket: this.bucket, key, at: Date.now() });
    this.objects.delete(key);
  }

  async get(key: string): Promise<Buffer | undefined> {
    const thread = this.threads[Math.floor(Math.random() * this.threads.length)]!;
    const version: ObjectVersion | undefined = thread.reader.version(this.bucket, key);
    if (!version) return undefined;
    if (version.content.kind === 'empty') return Buffer.alloc(0);
    if (version.content.kind !== 'blob') throw new Error('a manifest');
    const { partition, id } = version.content.blob;
    const record = thread.reader.blob(partition, id);
    if (!record) return this.objects.has(key) ? this.get(key) : undefined;
    return Buffer.from(await thread.blobs.readWhole(record, this.manager.layout().rings[0]!.policy));
  }

  /** Throws unless every object is as it was put. */
  async verifyAll(): Promise<void> {
    for (const [key, body] of this.objects) {
      const found = await this.get(key);
      if (!found?.equals(body)) throw new Error(`${key} is not as it was put`);
    }
  }

  counts(): { total: number; normal: number; degraded: number; critical: number } {
    return { ...this.manager.report().policies[0]!.partitions };
  }

  isAtRest(): boolean {
    const { partitions, rebalance } = this.manager.report().policies[0]!;
    const marks = this.index.reader.db.all('SELECT partition FROM partitions LIMIT 1');
    return partitions.normal === partitions.total && rebalance === null && marks.length === 0;
  }

  /**
   * Looks at every drive, and waits until all has been at rest for a while: a thread may still be about to report a
   * drive that was away for a moment, and another fault would be one too many.
   */
  async rested(what: string, ms = 20_000): Promise<void> {
    await this.follow();
    let since = Infinity;
    const isThere = () => this.manager.report().drives.every(({ state }) => state !== 'absent');
    const holds = (): boolean => {
      since = isThere() && this.isAtRest() ? Math.min(since, Date.now()) : Infinity;
      return Date.now() - since >= RESTED_MS;
    };
    await this.until(holds, what, ms);
  }

  async until(holds: () => boolean, what: string, ms = 15_000): Promise<void> {
    for (const end = Date.now() + ms; !holds();) {
      if (Date.now() > end) {
        const report = JSON.stringify(this.manager.report());
        throw new Error(`waited too long: ${what}; ${report}; ${this.errors.map(String).join()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
