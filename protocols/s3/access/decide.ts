import type { Bucket, ObjectVersion } from '@granary/storage/object-store';
import type { Caller } from '../../objects/context.ts';
import { evaluate, type BucketPolicies } from './evaluate.ts';
import type { Lookup } from './pattern.ts';

export interface Question {
  readonly caller: Caller | null;
  readonly bucket: Bucket;
  readonly action: string;
  readonly key: string | null;
  readonly lookup: Lookup;
  /** The object it is about, asked for only when its own ACL decides. */
  readonly object: () => ObjectVersion | undefined;
  /** Administrators of the array may reach the data of all accounts. */
  readonly adminAccess: boolean;
}

const READ_BUCKET = new Set(['s3:ListBucket', 's3:ListBucketVersions', 's3:ListBucketMultipartUploads']);
const WRITE_BUCKET = new Set([
  's3:PutObject',
  's3:DeleteObject',
  's3:AbortMultipartUpload',
  's3:ListMultipartUploadParts',
]);
const READ_OBJECT = new Set(['s3:GetObject', 's3:GetObjectVersion']);
const POLICY_ITSELF = new Set(['s3:GetBucketPolicy', 's3:PutBucketPolicy', 's3:DeleteBucketPolicy']);

/** Whether the caller may. A policy's Deny binds the owners, too. */
export function decide(question: Question, policies: BucketPolicies): boolean {
  const { caller, bucket, action, key, lookup } = question;
  // Otherwise a policy that denies every user could never be removed.
  if (POLICY_ITSELF.has(action) && keepsPolicy(question)) return true;
  if (bucket.settings.policy !== undefined) {
    const resource = key === null ? bucket.name : `${bucket.name}/${key}`;
    const verdict = evaluate(policies.of(bucket.settings.policy, bucket.name), { caller, action, resource, lookup });
    if (verdict !== 'silent') return verdict === 'allow';
  }
  return belongs(question) || opened(question);
}

/** Every user of an account may do everything to its buckets, as in Swift. */
function belongs({ caller, bucket, adminAccess }: Question): boolean {
  if (caller === null) return false;
  return caller.account === bucket.account || (adminAccess && caller.role === 'objs_admin');
}

function keepsPolicy(question: Question): boolean {
  return belongs(question) && question.caller?.role !== 'member';
}

/** By canned ACLs, of the bucket for what is in it, of the object for its bytes. */
function opened({ caller, bucket, action, object }: Question): boolean {
  const { acl } = bucket.settings;
  if (READ_BUCKET.has(action)) return mayRead(acl, caller);
  if (WRITE_BUCKET.has(action)) return acl === 'public-read-write';
  return READ_OBJECT.has(action) && mayRead(object()?.attributes.acl, caller);
}

function mayRead(acl: string | undefined, caller: Caller | null): boolean {
  if (acl === 'public-read' || acl === 'public-read-write') return true;
  return acl === 'authenticated-read' && caller !== null;
}

/** Whether others than its account's users could have business with a bucket: to them, the rest are not there. */
export function isShared(bucket: Bucket): boolean {
  const { acl = 'private', policy } = bucket.settings;
  return policy !== undefined || acl !== 'private';
}
