import type { Bucket, ObjectStore } from '@granary/storage/object-store';
import { isRestricted } from '../../s3/access/decide.ts';
import { evaluate, BucketPolicies, type Verdict } from '../../s3/access/evaluate.ts';
import { type AskingRequest, requestKeys } from '../../s3/access/request-keys.ts';

export type PolicyQuestion = Omit<AskingRequest, 'signedBy'>;

const policies = new BucketPolicies();

/** A container is a bucket: the policy that was put on it over S3 holds for requests over Swift, too. */
export class PolicyDecision {
  readonly #request: AskingRequest;
  readonly #store: ObjectStore;

  constructor(request: PolicyQuestion, store: ObjectStore) {
    this.#request = { ...request, signedBy: null };
    this.#store = store;
  }

  /** What it says of an action as S3 names it, on the container or on a key in it. */
  decide(bucket: Bucket, action: string, key: string | null, versionId?: string): Verdict {
    const { policy } = bucket.settings;
    if (policy === undefined) return 'silent';
    const object = () => (key === null ? undefined : this.#store.version(bucket.id, key, versionId));
    const lookup = requestKeys(this.#request, bucket, object, versionId);
    const resource = key === null ? bucket.name : `${bucket.name}/${key}`;
    const { caller } = this.#request;
    const verdict = evaluate(policies.of(policy, bucket.name), { caller, action, resource, lookup });
    return verdict === 'allow' && isRestricted(bucket, caller, policies) ? 'silent' : verdict;
  }
}
