import type { Refused, Caller, AccountState } from '@granary/protocols/objects';
import type { Layout, RepairResult, SegmentName } from '@granary/storage/objects';
import type { Activity } from '../../activity.ts';
import type { ReplicationOrder, ReplicationOutcome } from '../../replication/order.ts';
import type { MoveOrder } from '../../transitions/order.ts';
import type { DataAddress, DataCertificate } from '../../serving/data-server.ts';
import type { ServedSettings } from '../../serving/served-settings.ts';
import type { CommitMessage } from './commits.ts';

export interface AccountLimit {
  /** Place of the account's counter in the memory all threads share. */
  readonly slot: number;
  /** Null: the limit of the array holds. */
  readonly changesPerSecond: number | null;
}

/** What a thread is started with. */
export interface ThreadData {
  readonly name: string;
  readonly index: number;
  readonly indexFile: string;
  /** Counts changes of users, accounts and their keys: what a thread remembers is good for one count. */
  readonly epoch: SharedArrayBuffer;
  /** Counts changes of buckets, likewise. */
  readonly buckets: SharedArrayBuffer;
  /** Changes of each account in the present second. */
  readonly limits: SharedArrayBuffer;
  /** Bodies of up to so many bytes are put on the drives by the main thread, with those of other threads. */
  readonly alongBytesMax: number;
}

/** What a thread is asked. */
export interface ControllerCalls {
  layout: { readonly args: Layout; readonly result: null };
  settings: { readonly args: ServedSettings; readonly result: null };
  /** Listens on these, and no longer on others; says which could not be bound. */
  serve: {
    readonly args: { readonly addresses: readonly DataAddress[]; readonly certificate: DataCertificate | null };
    readonly result: { readonly bound: readonly DataAddress[]; readonly problems: readonly string[] };
  };
  flush: { readonly args: null; readonly result: Activity };
  repair: {
    readonly args: { readonly partition: number; readonly verify: boolean };
    readonly result: RepairResult;
  };
  compact: { readonly args: { readonly drive: number; readonly segment: number }; readonly result: number };
  /** Segments that must not be dropped: this thread appends to them, or has staged bytes in them. */
  busySegments: { readonly args: null; readonly result: readonly SegmentName[] };
  /** Passes a change on to an S3 service elsewhere. */
  replicate: { readonly args: ReplicationOrder; readonly result: ReplicationOutcome };
  /** Brings a version under another storage policy. */
  move: { readonly args: MoveOrder; readonly result: boolean };
  /** Lets requests under way finish; afterwards nothing is open. */
  stop: { readonly args: null; readonly result: Activity };
}

/** What a thread asks of the main one. */
export interface MainCalls {
  commit: { readonly args: CommitMessage; readonly result: unknown };
  s3Key: {
    readonly args: string;
    readonly result: { readonly caller: Caller; readonly secret: string; readonly limit: AccountLimit } | Refused;
  };
  token: {
    readonly args: string;
    readonly result: { readonly caller: Caller; readonly expiresAt: number; readonly limit: AccountLimit } | Refused;
  };
  signIn: {
    readonly args: {
      readonly account: string;
      readonly username: string;
      readonly password: string;
      readonly ip: string;
    };
    readonly result: { readonly caller: Caller; readonly token: string; readonly expiresAt: number } | Refused;
  };
  account: { readonly args: string; readonly result: (AccountState & { readonly limit: AccountLimit }) | null };
  accountsByMail: { readonly args: string; readonly result: readonly string[] };
  notificationSecret: { readonly args: string; readonly result: string };
  setAccountMetadata: {
    readonly args: { readonly account: string; readonly changes: Readonly<Record<string, string | null>> };
    readonly result: null;
  };
  nextSegment: { readonly args: number; readonly result: number };
  driveFailed: { readonly args: { readonly drive: number; readonly reason: string }; readonly result: null };
  damaged: { readonly args: { readonly partition: number }; readonly result: null };
  activity: { readonly args: Activity; readonly result: null };
  log: {
    readonly args: {
      readonly level: 'warn' | 'error';
      readonly text: string;
      readonly facts: Readonly<Record<string, unknown>>;
    };
    readonly result: null;
  };
}
