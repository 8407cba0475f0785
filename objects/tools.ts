import type { Clock, EventLog, HostedConfiguration, Jobs, Log, Migrations, Store, Vault } from '@granary/kernel';
import type { AccountUsage, Commit } from '@granary/storage/object-store';
import type { ObjectEngine } from './engine/engine.ts';

/** What accounts store, as the object store counts it. */
export interface AccountFigures {
  usage(account: string): AccountUsage;
}

/** Opens a database of the array's folder. */
export type OpenStore = (name: string, migrations: Migrations) => Store;

/** What every resource of an object storage array is built from. */
export interface ObjectsTools {
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly jobs: Jobs;
  readonly log: Log;
  /** Called when a change of accounts, users or settings is durable: the engine drops what it cached of them. */
  readonly changed: () => void;
  /** Changes of buckets and objects. */
  readonly commit: Commit;
  readonly figures: AccountFigures;
  /** What keeps and serves the objects. */
  readonly engine: ObjectEngine;
  /** Gives a drive back to the cloud; rejects with its reason. */
  readonly returnDrive: (uuid: string) => Promise<void>;
  /** Gives back all proxy controllers but the first `kept`. */
  readonly returnProxies: (kept: number) => Promise<void>;
  /** `http(s)://host:port` of the data path, the first most of all. */
  readonly publicUrls: () => readonly string[];
  /** Databases beside the array's own, for what is written all the time. */
  readonly openStore: OpenStore;
  /** Asked each time it matters: the cloud may change it while the array runs. */
  readonly configuration: () => HostedConfiguration;
}

/** What accounts, users and their mail are built from: no more of the data path than its figures and its changes. */
export type PeopleTools = Pick<
  ObjectsTools,
  | 'store'
  | 'vault'
  | 'clock'
  | 'events'
  | 'jobs'
  | 'log'
  | 'changed'
  | 'commit'
  | 'figures'
  | 'publicUrls'
  | 'configuration'
>;
