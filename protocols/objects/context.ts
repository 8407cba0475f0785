import type { ObjectStore } from '@granary/storage/object-store';

/** Who sends a request of the data path. */
export interface Caller {
  /** 32 hex digits. */
  readonly account: string;
  readonly accountName: string;
  /** User id, 32 hex digits. */
  readonly user: string;
  readonly username: string;
  readonly role: 'objs_admin' | 'account_admin' | 'member';
}

export interface AccountState {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly createdAt: number;
  /** Swift: X-Account-Meta-*, by lower-case name; `temp-url-key` and `temp-url-key-2` are among them. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** `T` at once when it is known here, a promise when it has to be asked for. */
export type Soon<T> = T | Promise<T>;

export type Refused = { readonly refused: 'unknown' | 'account-disabled' | 'user-disabled' | 'expired' };

/** Users and accounts as the data path knows them. Answers are never older than the last change that was acknowledged. */
export interface Directory {
  byS3Key(accessKey: string): Soon<{ readonly caller: Caller; readonly secret: string } | Refused>;
  byToken(token: string): Soon<{ readonly caller: Caller; readonly expiresAt: number } | Refused>;
  /** For `GET /auth/v1.0`: user `account:username`. A new token, or the present one while it lives. Failures are slowed down. */
  signIn(
    account: string,
    username: string,
    password: string,
    ip: string,
  ): Promise<{ readonly caller: Caller; readonly token: string; readonly expiresAt: number } | Refused>;
  /** By id; by name too where addresses may name accounts. */
  account(idOrName: string): Soon<AccountState | undefined>;
  /** Ids of the accounts that have a user with a mail address; two are enough to tell that it names none. */
  accountsByMail(email: string): Soon<readonly string[]>;
  /** The secret that signs what is posted by the rules of a bucket, by the seed among its settings. */
  notificationSecret(seed: string): Soon<string>;
  /** Swift: sets metadata of an account; a null removes. */
  setAccountMetadata(account: string, changes: Readonly<Record<string, string | null>>): Promise<void>;
}

/** What an operator sets for the data path; asked at every request. */
export interface DataSettings {
  readonly arrayName: string;
  /** In signatures and in LocationConstraint. */
  readonly region: string;
  /** Names and addresses the array is reached by; buckets stand before one of the names when `virtualHosted`. */
  readonly hosts: readonly string[];
  readonly virtualHosted: boolean;
  /** Swift addresses may have the account's name where its id stands. */
  readonly accountNames: boolean;
  /** Administrators of the array may reach the data of all accounts. */
  readonly adminAccess: boolean;
  /** http(s)://host:port of the data path. */
  readonly publicUrl: string;
  /** The accounts whose buckets may be replicated to a remote endpoint, by its name. */
  readonly destinations?: Readonly<Record<string, readonly string[]>>;
  /** Hosts that notifications of buckets may be posted to: names, `*.` and a domain, or `*` for all; none by default. */
  readonly notificationHosts?: readonly string[];
}

export type RequestClass = 'get' | 'put' | 'delete' | 'other';

/** One request that was answered, for metering, bills and the access log. */
export interface RequestRecord {
  readonly requestId: string;
  readonly protocol: 's3' | 'swift';
  /** `GetObject`, `PUT object`, … */
  readonly action: string;
  readonly class: RequestClass;
  /** What it was about: only requests of objects count in metering. */
  readonly subject: 'service' | 'account' | 'bucket' | 'object';
  /** Account whose data it was about; null when unknown. */
  readonly account: string | null;
  /** Null for anonymous callers. */
  readonly user: string | null;
  readonly username: string | null;
  readonly policy: number | null;
  readonly bucket: string | null;
  readonly key: string | null;
  readonly status: number;
  /** It was turned away by a limit on changes, which is no failure although S3 gives it a status of one. */
  readonly isLimited?: true;
  /** Bytes of object data in the request's body (decoded) and in the reply's body. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Bytes of an object that went, for deletions. */
  readonly bytesDeleted: number;
  readonly milliseconds: number;
  /** When it began, milliseconds since 1970. */
  readonly at: number;
  readonly ip: string;
  /** Lines for the logs of buckets that keep one. */
  readonly logged?: readonly LoggedLine[];
}

/** What a request leaves in the log of a bucket. */
export interface LoggedLine {
  /** Number of the bucket. */
  readonly bucket: number;
  readonly line: string;
}

export interface DataContext {
  readonly store: ObjectStore;
  readonly directory: Directory;
  settings(): DataSettings;
  now(): number;
  /** Whether the account may change something now; false says 503 SlowDown (S3) or 498/429 (Swift). */
  mayChange(account: string): boolean;
  /** Called once a request, when its reply is sent or cut off. */
  done(record: RequestRecord): void;
  /** Something went wrong that is no fault of the caller. */
  onError(error: unknown, requestId: string): void;
}
