import type { OutgoingHttpHeaders } from 'node:http';
import type { Bucket, BucketSettings, LegacyVersions, ObjectStore } from '@granary/storage/object-store';
import { isPublicAcl, parseAcl } from '../access/acl.ts';
import { namedAccounts } from '../access/identify.ts';
import { checkNames } from '../request/address.ts';
import { applyChanges, metadataChanges, metadataHeaders, OWNERS_METADATA, timestamp } from '../request/metadata.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { ContainerRequest, SwiftRequest } from '../request/request.ts';
import { headerValue, isTrue, percentDecode, percentEncode, titleCase } from '../request/text.ts';
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

/** What only owners of an account set: who else gets in, and by which keys. */
function refuseOwnersHeaders(request: SwiftRequest): void {
  if (request.access.owns(request.account.id)) return;
  const names = ['read', 'write', 'meta-temp-url-key', 'meta-temp-url-key-2'];
  for (const name of names.flatMap((each) => [`x-container-${each}`, `x-remove-container-${each}`])) {
    if (request.header(name) !== undefined) {
      throw new SwiftRefusal(403, `${titleCase(name)} is for administrators of the account.`);
    }
  }
}

type AclKind = 'read' | 'write';

async function aclChange(
  request: SwiftRequest,
  { aclAccounts: present, publicAccessBlock }: Pick<SettingsChange, 'aclAccounts' | 'publicAccessBlock'>,
  kind: AclKind,
): Promise<SettingsChange> {
  const name = `x-container-${kind}`;
  const text = request.header(name);
  const isRemoved = request.header(`x-remove-container-${kind}`) !== undefined || text?.trim() === '';
  if (!isRemoved && text === undefined) return {};
  const acl = isRemoved || text === undefined ? '' : text;
  const { context, settings, account } = request;
  const ids = await namedAccounts(context, settings, account, acl);
  if (isPublicAcl(parseAcl(titleCase(name), acl, ids)) && publicAccessBlock?.blockPublicAcls === true) {
    throw new SwiftRefusal(403, `${titleCase(name)}: the public access block of the container blocks .r: and *:*.`);
  }
  const others = Object.entries(present ?? {}).filter(([key]) => !key.startsWith(`${kind}:`));
  const kept = [...others, ...Object.entries(ids).map(([named, id]) => [`${kind}:${named}`, id] as const)];
  return {
    [kind]: acl === '' ? undefined : acl,
    aclAccounts: kept.length === 0 ? undefined : Object.fromEntries(kept),
  };
}

function refuseUnknown(request: SwiftRequest): void {
  for (const name of ['x-container-sync-to', 'x-container-sync-key', 'x-container-sharding']) {
    const value = request.header(name);
    if (value !== undefined && value !== '') throw new SwiftRefusal(400, `${titleCase(name)} is not supported`);
  }
}

const LOCATIONS = [
  ['x-versions-location', 'stack'],
  ['x-history-location', 'history'],
] as const;

/** Where old versions go; undefined where the request does not say, null where they go nowhere any more. */
function readLocation(request: SwiftRequest, own: string): LegacyVersions | null | undefined {
  const given = LOCATIONS.filter(([header]) => (request.header(header) ?? '') !== '');
  if (given.length > 1) {
    throw new SwiftRefusal(400, 'Only one of X-Versions-Location or X-History-Location may be specified');
  }
  const [first] = given;
  if (first === undefined) {
    const isRemoved = LOCATIONS.some(
      ([header]) => request.header(header) === '' || request.header(header.replace('x-', 'x-remove-')) !== undefined,
    );
    return isRemoved ? null : undefined;
  }
  const [header, mode] = first;
  const container = percentDecode(Buffer.from(request.header(header) ?? '', 'utf8').toString('latin1'));
  if (container.includes('/'))
    throw new SwiftRefusal(412, `${titleCase(header)} must name a container, without a slash`);
  checkNames(container);
  if (container === own) throw new SwiftRefusal(400, `${titleCase(header)} must name another container`);
  return { container, mode };
}

/** One container keeps old versions by itself or in another container, not both. */
function legacyChange(request: ContainerRequest, present: Bucket | undefined): SettingsChange {
  const location = readLocation(request, request.container);
  const asked = request.header('x-versions-enabled');
  const willBeVersioned = asked === undefined ? present?.versioning === 'enabled' : isTrue(asked);
  const kept = location === undefined ? present?.settings.legacyVersions : location;
  if (willBeVersioned && kept !== undefined && kept !== null) {
    throw new SwiftRefusal(
      400,
      'A container has X-Versions-Enabled or X-Versions-Location, not both: remove the other first',
    );
  }
  return location === undefined ? {} : { legacyVersions: location ?? undefined };
}

/** What the headers of a PUT or POST change in a container; `present` is absent for a new one. */
export async function containerChange(request: ContainerRequest, present?: Bucket): Promise<ContainerChange> {
  refuseUnknown(request);
  refuseOwnersHeaders(request);
  const changes = metadataChanges(request, 'container');
  const bytes = readQuota(changes, 'quota-bytes', 'bytes');
  const count = readQuota(changes, 'quota-count', 'count');
  const versioned = request.header('x-versions-enabled');
  const settings = present?.settings ?? {};
  const read = await aclChange(request, settings, 'read');
  return {
    settings: {
      ...read,
      ...(await aclChange(request, { ...settings, ...read }, 'write')),
      ...legacyChange(request, present),
      ...(changes.size === 0 ? {} : { metadata: applyChanges(settings.metadata ?? {}, changes) }),
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

function legacyHeaders({ legacyVersions }: BucketSettings): OutgoingHttpHeaders {
  if (legacyVersions === undefined) return {};
  const { mode, container } = legacyVersions;
  return { [mode === 'stack' ? 'X-Versions-Location' : 'X-History-Location']: percentEncode(container) };
}

/** Old versions take room, and are not counted. */
export function currentObjects(bucket: Bucket): number {
  return bucket.objects - bucket.noncurrent;
}

export function containerHeaders(store: ObjectStore, bucket: Bucket, isOwner: boolean): OutgoingHttpHeaders {
  const { settings } = bucket;
  return {
    'X-Container-Object-Count': String(currentObjects(bucket)),
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
    ...legacyHeaders(settings),
    ...(isOwner ? ownersHeaders(settings) : {}),
  };
}
