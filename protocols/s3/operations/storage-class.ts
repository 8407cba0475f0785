import {
  findPolicyNamed,
  policyIdOf,
  type Bucket,
  type ObjectAttributes,
  type ObjectStore,
} from '@granary/storage/object-store';
import { S3Error } from '../errors.ts';
import type { S3Request } from '../request.ts';

/**
 * A storage policy is a storage class: `STANDARD` is that of the bucket, others go by their name, in whatever case, or by
 * their id (`policy-00000002`).
 */
export const STANDARD = 'STANDARD';

type Kept = Pick<ObjectAttributes, 'policy'>;

export function storageClassOf({ policies }: Pick<ObjectStore, 'policies'>, { policy }: Kept): string {
  if (policy === undefined) return STANDARD;
  return policies.find(({ index }) => index === policy)?.name ?? policyIdOf(policy);
}

/** The policy that a storage class names. */
export function policyOfClass({ policies }: Pick<ObjectStore, 'policies'>, bucket: Bucket, name: string): number {
  const found = name === STANDARD ? bucket.policy : findPolicyNamed(policies, name)?.index;
  if (found !== undefined) return found;
  const known = [STANDARD, ...policies.map((policy) => policy.name)].join(', ');
  throw new S3Error('InvalidStorageClass', `The storage class is one of ${known}.`, {
    StorageClassRequested: name.slice(0, 64),
  });
}

/** What is kept of the storage class that a request asks for: nothing where it is that of the bucket. */
export function askedPolicy(request: S3Request): Kept {
  const name = request.header('x-amz-storage-class');
  if (name === undefined) return {};
  const policy = policyOfClass(request.context.store, request.bucket, name);
  return policy === request.bucket.policy ? {} : { policy };
}
