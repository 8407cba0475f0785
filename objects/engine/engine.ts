import type {
  AccountUsage,
  Bucket,
  Commit,
  ListedVersion,
  Notification,
  ObjectStore,
  ReplicatedBuckets,
  Replication,
  StoredUsage,
} from '@granary/storage/object-store';
import type { ControllerState } from './controller-spec.ts';
import type { ReplicationOrder, ReplicationOutcome } from './replication/order.ts';
import type { MoveOrder } from './transitions/order.ts';
import type { DriveReport, EngineReport } from './report.ts';

/**
 * What an object storage array needs of whatever keeps its bytes. The embedded engine is one; a cluster with an object
 * store of its own can be another. An engine does all of `ObjectEngineCore` and serves S3 and Swift over its own
 * `ObjectStore`; the parts beside it are optional, and services ask for one by `partOf`.
 *
 * - Buckets and objects belong to accounts and storage policies, which the array defines.
 * - When a promise of `commit` resolves, the change survives a crash and every later read sees it.
 * - What cannot be done is thrown as an `ObjectError`.
 */
export interface ObjectEngine extends ObjectEngineCore {
  /** What its kind is called in the array's configuration. */
  readonly kind: string;
  /** Absent where the engine looks after drives and redundancy by itself. */
  readonly drives?: EngineDrives;
  /** Absent where requests are not spread over virtual controllers. */
  readonly controllers?: EngineControllers;
  /** Absent where objects cannot be encrypted with keys of the array. */
  readonly encryption?: EngineEncryption;
}

/** What every engine does. */
export interface ObjectEngineCore {
  /** What management reads of buckets, objects and accounts. */
  readonly catalogue: ObjectCatalogue;
  /** Every change of buckets and objects. */
  readonly commit: Commit;
  /** Policies with their capacity and health. Only while it serves. */
  report(): EngineReport;
  /** Drops what is remembered of users, accounts and keys. Called before a change of them is answered. */
  forgetCallers(): void;
  /** Settings of the data path changed: requests meet them when this resolves. */
  applySettings(): Promise<void>;
  /** The array's configuration changed, or settings that listeners and policies depend on. */
  reconfigure(): Promise<void>;
  /** Resolves when everything that was answered before is reported to `EngineManagement`. */
  flush(): Promise<void>;
  /** Sends a change to an S3 service elsewhere. */
  replicate(order: ReplicationOrder): Promise<ReplicationOutcome>;
  /** Brings the bytes of a version under another storage policy; false when it is gone or changed meanwhile. */
  move(order: MoveOrder): Promise<boolean>;
}

/** Reads are synchronous and see every change that was acknowledged before. */
export interface ObjectCatalogue extends Pick<
  ObjectStore,
  'bucket' | 'bucketById' | 'buckets' | 'listVersions' | 'uploads'
> {
  /** What an account stores now. */
  usage(account: string): AccountUsage;
  /** What an account stored from one midnight (UTC) to another, or to the present, by policy. */
  storedOver(account: string, from: number, to: number): readonly StoredUsage[];
  /** Objects whose `expiresAt` is over, the longest past first. */
  expired(now: number, limit: number): readonly ListedVersion[];
  /** Buckets with lifecycle rules, by their number. */
  bucketsAging(after: number, limit: number): readonly Bucket[];
  /** Remote endpoints that changes wait for. */
  replicationDestinations(): readonly string[];
  /** Changes that can be sent to a remote endpoint now, the longest due first; one change of a key at most. */
  replicationsDue(destination: string, now: number, limit: number): readonly Replication[];
  /** Addresses that notifications of buckets wait for. */
  notificationAddresses(): readonly string[];
  /** What can be posted to an address now, the longest due first. */
  notificationsDue(address: string, now: number, limit: number): readonly Notification[];
  /** How many buckets of which account are replicated to which remote endpoint. */
  replicatedBuckets(): readonly ReplicatedBuckets[];
}

export interface EngineDrives {
  /** Also drives that have left. */
  list(): readonly DriveReport[];
  /**
   * Moves everything away from drives of a policy and resolves when nothing is on them. Called again for drives that are
   * leaving already, it waits for them. An abort ends the waiting, not the moving. `onProgress` gets fractions.
   */
  remove(
    policy: string,
    uuids: readonly string[],
    onProgress: (done: number) => void,
    signal: AbortSignal,
  ): Promise<void>;
}

export interface EngineControllers {
  list(): readonly ControllerState[];
}

export interface EngineEncryption {
  /** From the next object on. Keys are kept in memory only. */
  setKeys(state: EncryptionState): Promise<void>;
}

export interface EncryptionState {
  /** Of what asks for encryption while not everything is encrypted. */
  readonly serviceKey?: number;
  /** Number of the key that new objects are encrypted with; 0 for none. */
  readonly writeKey: number;
  /** Keys at hand, 32 bytes each. What is encrypted with another is locked. */
  readonly keys: readonly { readonly number: number; readonly key: Uint8Array }[];
}
