import type { OutgoingHttpHeaders } from 'node:http';
import type { Bucket, BucketSettings, ObjectStore } from '@granary/storage/object-store';
import { parseAcl } from '../access/acl.ts';
import { applyChanges, metadataChanges, metadataHeaders, OWNERS_METADATA, timestamp } from '../request/metadata.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { SwiftRequest } from '../request/request.ts';
import { headerValue, isTrue } from '../request/text.ts';
import { policyName } from './policies.ts';

type SettingsChange = { readonly [K in keyof BucketSettings]?: BucketSettings[K] | undefined };

export interface ContainerChange {
  readonly settings: SettingsChange;
  readonly versioning?: 'enabled' | 'suspended';
}

/** Quotas are limits of the container, not text: they are kept as numbers and taken out of the metadata. */
function readQuota(
  changes: Map<string, string | null>,
  name: string,
  label: string,
): { readonly value?: number } | null {
  const text = changes.get(name);
  if (text === undefined) return null;
  changes.delete(name);
  if (text === null) return {};
  if (!/^\d{1,15}$/.test(text)) throw new SwiftRefusal(400, `Invalid ${label} quota.`);
  return { value: Number(text) };
}

function aclChange(request: SwiftRequest, kind: 'read' | 'write'): SettingsChange {
  const name = `x-container-${kind}`;
  const text = request.header(name);
  if (request.header(`x-remove-container-${kind}`) !== undefined || text?.trim() === '') return { [kind]: undefined };
  if (text === undefined) return {};
  parseAcl(kind === 'read' ? 'X-Container-Read' : 'X-Container-Write', text);
  return { [kind]: text };
}

function refuseUnknown(request: SwiftRequest): void {
  for (const name of ['x-versions-location', 'x-history-location', 'x-container-sync-to', 'x-container-sharding']) {
    const value = request.header(name);
    if (value !== undefined && value !== '') {
      throw new SwiftRefusal(
        400,
        `${name} is not supported${name.endsWith('location') ? ': use X-Versions-Enabled' : ''}`,
      );
    }
  }
}

/** What the headers of a PUT or POST change in a container. */
export function containerChange(request: SwiftRequest, present: BucketSettings): ContainerChange {
  refuseUnknown(request);
  const changes = metadataChanges(request, 'container');
  const bytes = readQuota(changes, 'quota-bytes', 'bytes');
  const count = readQuota(changes, 'quota-count', 'count');
  const versioned = request.header('x-versions-enabled');
  return {
    settings: {
      ...aclChange(request, 'read'),
      ...aclChange(request, 'write'),
      ...(changes.size === 0 ? {} : { metadata: applyChanges(present.metadata ?? {}, changes) }),
      ...(bytes === null ? {} : { quotaBytes: bytes.value }),
      ...(count === null ? {} : { quotaObjects: count.value }),
    },
    ...(versioned === undefined ? {} : { versioning: isTrue(versioned) ? 'enabled' : 'suspended' }),
  };
}

/** Drops what is `undefined`: for containers that are new there is nothing to remove. */
export function asSettings(change: SettingsChange, owner: string | undefined): BucketSettings {
  const entries = Object.entries({ owner, ...change }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

function ownersHeaders(settings: BucketSettings): OutgoingHttpHeaders {
  return {
    ...(settings.read === undefined ? {} : { 'X-Container-Read': headerValue(settings.read) }),
    ...(settings.write === undefined ? {} : { 'X-Container-Write': headerValue(settings.write) }),
  };
}

export function containerHeaders(store: ObjectStore, bucket: Bucket, isOwner: boolean): OutgoingHttpHeaders {
  const { settings } = bucket;
  return {
    'X-Container-Object-Count': String(bucket.objects),
    'X-Container-Bytes-Used': String(bucket.bytes),
    'X-Timestamp': timestamp(bucket.createdAt),
    'Last-Modified': new Date(bucket.createdAt).toUTCString(),
    'X-Storage-Policy': headerValue(policyName(store, bucket.policy)),
    'Accept-Ranges': 'bytes',
    ...metadataHeaders('X-Container-Meta-', settings.metadata, isOwner ? [] : OWNERS_METADATA),
    ...(settings.quotaBytes === undefined ? {} : { 'X-Container-Meta-Quota-Bytes': String(settings.quotaBytes) }),
    ...(settings.quotaObjects === undefined ? {} : { 'X-Container-Meta-Quota-Count': String(settings.quotaObjects) }),
    ...(bucket.versioning === 'off'
      ? {}
      : { 'X-Versions-Enabled': bucket.versioning === 'enabled' ? 'True' : 'False' }),
    ...(isOwner ? ownersHeaders(settings) : {}),
  };
}
