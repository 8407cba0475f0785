import { releaseMemory } from '@granary/kernel/resources';
import type { Answers, Line } from '@granary/kernel/threads';
import type { DataContext } from '@granary/protocols/objects';
import {
  BlobReader,
  BlobWriter,
  OpenDrives,
  Epoch,
  IndexReader,
  LocalObjectStore,
  Repairer,
  PieceBuilder,
  type IndexCommit,
  type Layout,
  type LocalStoreOptions,
  type ObjectStore,
} from '@granary/storage/objects';
import type { ObjectReplicationSender } from '../../replication/sender.ts';
import { moveBytes } from '../../transitions/mover.ts';
import type { Activity } from '../../activity.ts';
import type { ServedSettings } from '../../serving/served-settings.ts';
import { ActivityLog } from './activity-log.ts';
import { askedCommit } from './commits.ts';
import { DataServer } from '../../serving/data-server.ts';
import { refuseFull } from './full-policies.ts';
import { protocolHandler } from '../../serving/protocol-handler.ts';
import type { ControllerCalls, MainCalls, ThreadData } from './protocol.ts';
import { ThreadDirectory } from './thread-directory.ts';

const REPORT_EVERY_MS = 1_000;

type MainLine = Line<ControllerCalls, MainCalls>;

/** One virtual controller: serves S3 and Swift, reads and writes pieces, and repairs partitions for the storage manager. */
export class ObjectController {
  readonly #line: MainLine;
  readonly #data: ThreadData;
  readonly #drives: OpenDrives;
  readonly #reader: IndexReader;
  readonly #activity: ActivityLog;
  readonly #repairer: Repairer;
  readonly #server: DataServer;
  readonly #store: ObjectStore;
  readonly #reporting: NodeJS.Timeout;
  #sender: Promise<ObjectReplicationSender> | undefined;
  #layout: Layout | undefined;
  #settings: ServedSettings | undefined;

  constructor(line: MainLine, data: ThreadData) {
    this.#line = line;
    this.#data = data;
    this.#reader = new IndexReader(data.indexFile, new Epoch(data.buckets));
    this.#drives = new OpenDrives({
      nextSegment: (drive) => line.ask('nextSegment', drive),
      onDriveFailure: (drive, error) => this.#notify('driveFailed', { drive, reason: error.message }),
    });
    this.#activity = new ActivityLog(() => this.#drives.activity());
    const commit = askedCommit((message) => line.ask('commit', message));
    const layout = () => known(this.#layout);
    const drives = this.#drives;
    this.#repairer = new Repairer({
      layout,
      drives,
      commit,
      index: this.#reader,
      pieces: new PieceBuilder({ layout, drives, lookup: (blob) => this.#reader.blob(blob.partition, blob.id) }),
    });
    this.#store = this.#newStore(commit);
    this.#server = new DataServer(protocolHandler(this.#context(this.#store)), {
      onCrowded: (report) => {
        const text = 'connections were dropped to make room for others';
        this.#notify('log', { level: 'warn', text, facts: { ...report } });
      },
    });
    this.#reporting = setInterval(() => this.#reportActivity(), REPORT_EVERY_MS);
  }

  /** What the main thread can ask. */
  readonly answers: Answers<ControllerCalls> = {
    layout: async (layout) => {
      await this.#drives.update(layout);
      this.#layout = layout;
      return null;
    },
    settings: (settings) => {
      this.#settings = settings;
      return null;
    },
    serve: async ({ addresses, certificate }) => {
      const isFirst = this.#server.bound.length === 0;
      const problems = await this.#server.serve(addresses, certificate);
      if (isFirst) releaseMemory();
      return { bound: this.#server.bound, problems };
    },
    flush: () => this.#activity.drain(),
    repair: ({ partition, verify }) => this.#repairer.repair(partition, verify),
    compact: ({ drive, segment }) => this.#repairer.compact(drive, segment),
    busySegments: () => this.#repairer.busySegments(),
    replicate: async (order) => (await (this.#sender ??= this.#newSender())).send(order),
    move: (order) => moveBytes({ store: this.#store, reader: this.#reader, now: () => Date.now() }, order),
    stop: () => this.#stop(),
  };

  /** Most arrays replicate nothing: what it takes is loaded when it is needed. */
  async #newSender(): Promise<ObjectReplicationSender> {
    const { ObjectReplicationSender } = await import('../../replication/sender.ts');
    return new ObjectReplicationSender({ store: this.#store, reader: this.#reader });
  }

  #newStore(commit: IndexCommit): ObjectStore {
    const layout = () => known(this.#layout);
    const drives = this.#drives;
    const reader = this.#reader;
    const onDamage = ({ partition }: { readonly partition: number }) => this.#notify('damaged', { partition });
    const blobWriter = new BlobWriter({ layout, drives });
    const writer: LocalStoreOptions['writer'] = {
      stage: async (policy, body, size, options) => {
        refuseFull(known(this.#settings).fullPolicies, policy);
        return blobWriter.stage(policy, body, size, options);
      },
    };
    const { alongBytesMax } = this.#data;
    const blobs = new BlobReader({ layout, drives, onDamage, lookup: (blob) => reader.blob(blob.partition, blob.id) });
    return new LocalObjectStore({ layout, commit, reader, writer, blobs, alongBytesMax });
  }

  #context(store: ObjectStore): DataContext {
    const { epoch, limits } = this.#data;
    const directory = new ThreadDirectory({ line: this.#line, epoch, limits, now: Date.now });
    return {
      store,
      directory,
      settings: () => known(this.#settings),
      now: Date.now,
      mayChange: (account) => directory.mayChange(account, known(this.#settings).changesPerSecond),
      done: (record) => this.#activity.add(record),
      onError: (error, request) => {
        const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
        this.#notify('log', { level: 'error', text: 'a data request failed', facts: { request, problem } });
      },
    };
  }

  #reportActivity(): void {
    if (!this.#activity.isEmpty) this.#notify('activity', this.#activity.drain());
  }

  /** No caller waits for the answer, so a refusal must not end the thread; the main thread has logged it. */
  #notify<K extends keyof MainCalls>(call: K, args: MainCalls[K]['args']): void {
    this.#line.ask(call, args).catch(() => undefined);
  }

  async #stop(): Promise<Activity> {
    clearInterval(this.#reporting);
    (await this.#sender)?.stop();
    await this.#server.close();
    await this.#drives.close();
    this.#reader.close();
    return this.#activity.drain();
  }
}

function known<T>(received: T | undefined): T {
  if (received === undefined) throw new Error('This controller has not received its layout and settings yet.');
  return received;
}
