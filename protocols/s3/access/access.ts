import type { Bucket } from '@granary/storage/object-store';
import type { DataContext } from '../../objects/context.ts';
import { S3Error } from '../errors.ts';
import type { AccessFacts, BucketAddress } from '../request.ts';
import { decide, isShared } from './decide.ts';
import { BucketPolicies } from './evaluate.ts';
import { type AskingRequest, requestKeys } from './request-keys.ts';

/** What is to be done to a bucket, or to a key in it. */
export interface Wish {
  readonly action: string;
  readonly key: string | null;
  /** Left out: the current version of the key. */
  readonly facts?: AccessFacts | undefined;
}

/** Finds buckets by what callers call them, and says who may do what. */
export class S3Access {
  readonly #context: DataContext;
  readonly #policies = new BucketPolicies();

  constructor(context: DataContext) {
    this.#context = context;
  }

  may(request: AskingRequest, bucket: Bucket, { action, key, facts = {} }: Wish): boolean {
    const { versionId, uploads = false } = facts;
    const object = () => (key === null ? undefined : this.#context.store.version(bucket.id, key, versionId));
    const lookup = requestKeys(request, bucket, object, versionId);
    const { caller, settings } = request;
    return decide(
      { caller, bucket, action, key, lookup, object, adminAccess: settings.adminAccess, uploads },
      this.#policies,
    );
  }

  /** Whether the caller may learn that a key is not there: by owning the bucket, or by the right to list it. */
  mayKnowKeys(request: AskingRequest, bucket: Bucket): boolean {
    if (request.caller?.account === bucket.account) return true;
    return this.may(request, bucket, { action: 's3:ListBucket', key: null });
  }

  demand(request: AskingRequest, bucket: Bucket, wish: Wish): void {
    if (!this.may(request, bucket, wish)) throw new S3Error('AccessDenied');
  }

  /**
   * The bucket an address means: the caller's own of that name, else the oldest of that name that is shared. Which one it
   * is does not depend on the wish: what it refuses is refused, or a younger bucket of that name would get the request.
   * A bucket that is shared by the ACLs of its objects alone is found by a wish that they grant. Others of that name are
   * refused, not denied, unless the question is whether the caller has such a bucket.
   */
  open(request: AskingRequest, address: BucketAddress, wish: Wish | null, asksIfThere = false): Bucket {
    const candidates = this.#candidates(request, address);
    const may = (bucket: Bucket) => wish !== null && this.may(request, bucket, wish);
    const meant = candidates.find((bucket) => this.#visible(request, bucket) || may(bucket));
    if (!meant && request.caller !== null && (asksIfThere || candidates.length === 0)) {
      throw new S3Error('NoSuchBucket', undefined, { BucketName: address.name });
    }
    if (!meant || (wish !== null && !may(meant))) throw new S3Error('AccessDenied');
    return meant;
  }

  /** Accounts that are disabled serve no user, neither their own nor others. */
  async demandEnabled(request: AskingRequest, bucket: Bucket): Promise<void> {
    if (request.caller?.account === bucket.account) return;
    const account = await this.#context.directory.account(bucket.account);
    if (account?.enabled !== true) throw new S3Error('AccessDenied', 'The account of the bucket is not enabled.');
  }

  #candidates(request: AskingRequest, { account, name }: BucketAddress): Bucket[] {
    const { store } = this.#context;
    if (account !== undefined) return present(store.bucket(account, name));
    const own = request.caller && store.bucket(request.caller.account, name);
    return own ? [own] : store.bucketsNamed(name);
  }

  /** What only its account may see does not show. */
  #visible({ caller, settings }: AskingRequest, bucket: Bucket): boolean {
    if (caller?.account === bucket.account) return true;
    return isShared(bucket) || (settings.adminAccess && caller?.role === 'objs_admin');
  }
}

function present<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
