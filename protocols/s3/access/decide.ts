import type { Bucket, ObjectVersion, Permission } from '@granary/storage/object-store';
import type { Caller } from '../../objects/context.ts';
import { evaluate, type BucketPolicies } from './evaluate.ts';
import { grantsOf, grantsTo } from './grants.ts';
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
  /** The object is being written by this very request. */
  readonly uploads?: boolean;
}

/** What an ACL of the bucket has to grant for an action. */
const OF_BUCKET: Readonly<Partial<Record<string, Permission>>> = {
  's3:ListBucket': 'READ',
  's3:ListBucketVersions': 'READ',
  's3:ListBucketMultipartUploads': 'READ',
  's3:PutObject': 'WRITE',
  's3:DeleteObject': 'WRITE',
  's3:AbortMultipartUpload': 'WRITE',
  's3:ListMultipartUploadParts': 'WRITE',
  's3:GetBucketAcl': 'READ_ACP',
  's3:PutBucketAcl': 'WRITE_ACP',
};

/** And that of the object. */
const OF_OBJECT: Readonly<Partial<Record<string, Permission>>> = {
  's3:GetObject': 'READ',
  's3:GetObjectVersion': 'READ',
  's3:GetObjectAcl': 'READ_ACP',
  's3:GetObjectVersionAcl': 'READ_ACP',
  's3:PutObjectAcl': 'WRITE_ACP',
  's3:PutObjectVersionAcl': 'WRITE_ACP',
};
const POLICY_ITSELF = new Set(['s3:GetBucketPolicy', 's3:PutBucketPolicy', 's3:DeleteBucketPolicy']);

/** Whether the caller may. A policy's Deny binds the owners, too. */
export function decide(question: Question, policies: BucketPolicies): boolean {
  const { caller, bucket, action, key, lookup } = question;
  // Otherwise a policy that denies every user could never be removed.
  if (POLICY_ITSELF.has(action) && keepsPolicy(question)) return true;
  if (bucket.settings.policy !== undefined) {
    const resource = key === null ? bucket.name : `${bucket.name}/${key}`;
    const verdict = evaluate(policies.of(bucket.settings.policy, bucket.name), { caller, action, resource, lookup });
    if (verdict === 'deny') return false;
    if (verdict === 'allow' && !isRestricted(bucket, caller, policies)) return true;
  }
  return belongs(question) || opened(question) || isKnownAbsent(question, policies);
}

/** A key that is not there has no ACL: who may list the bucket learns that it is not there, others are refused. */
function isKnownAbsent(question: Question, policies: BucketPolicies): boolean {
  const { action, key, object } = question;
  if (action !== 's3:GetObject' || key === null || object() !== undefined) return false;
  return decide({ ...question, action: 's3:ListBucket', key: null }, policies);
}

/** Whether what the bucket's policy allows is not for this caller, because it is public and public policies are restricted. */
export function isRestricted(
  { name, account, settings }: Bucket,
  caller: Caller | null,
  policies: BucketPolicies,
): boolean {
  if (settings.publicAccessBlock?.restrictPublicBuckets !== true || caller?.account === account) return false;
  return settings.policy !== undefined && policies.isPublic(settings.policy, name);
}

/** Every user of an account may do everything to its buckets, as in Swift. */
function belongs({ caller, bucket, adminAccess }: Question): boolean {
  if (caller === null) return false;
  return caller.account === bucket.account || (adminAccess && caller.role === 'objs_admin');
}

function keepsPolicy(question: Question): boolean {
  return belongs(question) && question.caller?.role !== 'member';
}

/** By ACLs, of the bucket for what is in it, of the object for its bytes. */
function opened({ caller, bucket, action, object, uploads }: Question): boolean {
  const { settings } = bucket;
  if (settings.ownership === 'BucketOwnerEnforced') return false;
  const asked = { caller, ignorePublic: settings.publicAccessBlock?.ignorePublicAcls === true };
  // Who may write by the bucket's ACL says who may read what is written.
  if (uploads === true && action === 's3:PutObjectAcl') return grantsTo(settings, 'WRITE', asked);
  const ofBucket = OF_BUCKET[action];
  if (ofBucket !== undefined) return grantsTo(settings, ofBucket, asked);
  const ofObject = OF_OBJECT[action];
  const attributes = ofObject === undefined ? undefined : object()?.attributes;
  if (ofObject === undefined || attributes === undefined) return false;
  const owns = attributes.writer !== undefined && attributes.writer === caller?.account;
  return owns || grantsTo(attributes, ofObject, asked);
}

/** Whether others than its account's users could have business with a bucket: to them, the rest are not there. */
export function isShared({ settings }: Bucket): boolean {
  return settings.policy !== undefined || grantsOf(settings).length > 0;
}
