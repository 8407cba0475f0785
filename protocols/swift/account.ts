import type { OutgoingHttpHeaders } from 'node:http';
import type { Bucket, ObjectStore } from '@granary/storage/object-store';
import { ACCOUNT_QUOTA } from '../objects/account-quota.ts';
import { ACCOUNT_ACL, readAccountAcl, shownAccountAcl, storedAccountAcl } from './access/account-acl.ts';
import { parseAcl } from './access/acl.ts';
import { namedAccounts } from './access/identify.ts';
import { methodNotAllowed } from './access/sign-in.ts';
import { bulkDelete } from './bulk/bulk-delete.ts';
import { extractArchive } from './bulk/extract-archive.ts';
import { currentObjects } from './containers/container-settings.ts';
import { listedTime, writeListing, type Entry } from './containers/formats.ts';
import { pageOf, type Page } from './containers/page.ts';
import { policyName } from './containers/policies.ts';
import { applyChanges, metadataChanges, metadataHeaders, OWNERS_METADATA, timestamp } from './request/metadata.ts';
import { SwiftRefusal } from './request/refusal.ts';
import { headerValue, titleCase } from './request/text.ts';
import { CONTENT_TYPES, formatOf, type SwiftReply, type SwiftRequest } from './request/request.ts';

/** Without what is kept beside it. */
function clientsMetadata({ account }: SwiftRequest): Readonly<Record<string, string>> {
  const { [ACCOUNT_ACL]: _acl, ...metadata } = account.metadata;
  return metadata;
}

function accountHeaders(request: SwiftRequest): OutgoingHttpHeaders {
  const { store, account, access } = request;
  const isOwner = access.owns(account.id);
  const usage = store.usage(account.id);
  const headers: OutgoingHttpHeaders = {
    'X-Account-Container-Count': String(usage.buckets),
    'X-Account-Object-Count': String(usage.objects),
    'X-Account-Bytes-Used': String(usage.bytes),
    'X-Timestamp': timestamp(account.createdAt),
    'X-Account-Project-Domain-Id': 'default',
    'Accept-Ranges': 'bytes',
    ...metadataHeaders('X-Account-Meta-', clientsMetadata(request), isOwner ? [] : OWNERS_METADATA),
  };
  const acl = isOwner ? shownAccountAcl(account) : undefined;
  if (acl !== undefined) headers['X-Account-Access-Control'] = headerValue(acl);
  for (const policy of usage.policies) {
    const prefix = `X-Account-Storage-Policy-${policyName(store, policy.policy).replace(/[^\w.-]/g, '-')}`;
    headers[`${prefix}-Container-Count`] = String(policy.buckets);
    headers[`${prefix}-Object-Count`] = String(policy.objects);
    headers[`${prefix}-Bytes-Used`] = String(policy.bytes);
  }
  return headers;
}

function containerEntry(store: ObjectStore, bucket: Bucket): Entry {
  return {
    name: bucket.name,
    count: currentObjects(bucket),
    bytes: bucket.bytes,
    last_modified: listedTime(bucket.createdAt),
    storage_policy: policyName(store, bucket.policy),
  };
}

/** The part of a name up to the delimiter behind the prefix; undefined when there is none. */
function subdirOf(name: string, page: Page): string | undefined {
  if (page.delimiter === null) return undefined;
  const at = name.indexOf(page.delimiter, page.prefix.length);
  return at < 0 ? undefined : name.slice(0, at + page.delimiter.length);
}

const CHUNK = 1000;

/** Containers are few beside objects: those that share a beginning are passed over one by one. */
function listContainers(request: SwiftRequest, page: Page): Entry[] {
  const entries: Entry[] = [];
  let last: string | undefined;
  let { after } = page;
  while (entries.length < page.limit) {
    const limit = page.delimiter === null ? page.limit - entries.length : CHUNK;
    const buckets = request.store.buckets(request.account.id, {
      prefix: page.prefix,
      reverse: page.reverse,
      limit,
      ...(after === null ? {} : { after }),
      ...(page.before === null ? {} : { before: page.before }),
    });
    for (const bucket of buckets) {
      const subdir = subdirOf(bucket.name, page);
      if (subdir === undefined) entries.push(containerEntry(request.store, bucket));
      else if (subdir !== last && subdir !== page.after) entries.push({ subdir });
      last = subdir;
      if (entries.length >= page.limit) break;
    }
    const end = buckets.at(-1);
    if (end === undefined || buckets.length < limit) break;
    after = end.name;
  }
  return entries;
}

function getAccount(request: SwiftRequest): SwiftReply {
  request.access.demandReader(request.account.id);
  const format = formatOf(request);
  if (request.method === 'HEAD') {
    return { status: 204, headers: { ...accountHeaders(request), 'Content-Type': CONTENT_TYPES[format] } };
  }
  const page = pageOf(request.query);
  const entries = listContainers(request, page);
  const headers = { ...accountHeaders(request), 'Content-Type': CONTENT_TYPES[format] };
  if (format === 'plain' && entries.length === 0) return { status: 204, headers };
  const shape = { root: 'account', name: `AUTH_${request.account.id}`, entry: 'container' };
  return { status: 200, headers, body: writeListing(format, shape, entries) };
}

/** Limits that operators set on an account; its administrators are bound by them. */
function checkQuota(request: SwiftRequest, changes: ReadonlyMap<string, string | null>): void {
  for (const [name, value] of changes) {
    if (!/^quota-/.test(name)) continue;
    if (name !== ACCOUNT_QUOTA) throw new SwiftRefusal(400, `X-Account-Meta-${titleCase(name)} is not supported`);
    if (!request.access.isOperator) throw new SwiftRefusal(403, 'Quotas of accounts are set by operators.');
    if (value !== null && !/^\d{1,15}$/.test(value)) throw new SwiftRefusal(400, 'Invalid bytes quota.');
  }
}

async function aclChange(request: SwiftRequest): Promise<Record<string, string | null>> {
  const text = request.header('x-account-access-control');
  if (request.header('x-remove-account-access-control') !== undefined || text?.trim() === '') {
    return { [ACCOUNT_ACL]: null };
  }
  if (text === undefined) return {};
  const grants = readAccountAcl(text);
  const all = Object.values(grants).flat().join(',');
  const { context, settings, account } = request;
  const accounts = await namedAccounts(context, settings, account, all);
  parseAcl('X-Account-Access-Control invalid', all, accounts);
  return { [ACCOUNT_ACL]: storedAccountAcl(text, grants, accounts) };
}

function refuseUnknown(request: SwiftRequest): void {
  for (const name of request.headersWith('x-account-quota-').keys()) {
    throw new SwiftRefusal(400, `X-Account-Quota-${titleCase(name)} is not supported; X-Account-Meta-Quota-Bytes is`);
  }
}

async function postAccount(request: SwiftRequest): Promise<SwiftReply> {
  request.demandRate();
  refuseUnknown(request);
  const changes = metadataChanges(request, 'account');
  checkQuota(request, changes);
  applyChanges(clientsMetadata(request), changes);
  const all = { ...Object.fromEntries(changes), ...(await aclChange(request)) };
  if (Object.keys(all).length > 0) await request.context.directory.setAccountMetadata(request.account.id, all);
  return { status: 204, headers: {} };
}

export function handleAccount(request: SwiftRequest): SwiftReply | Promise<SwiftReply> {
  const { method, query } = request;
  if (query.has('bulk-delete') && (method === 'POST' || method === 'DELETE')) return bulkDelete(request);
  if (query.has('extract-archive') && method === 'PUT') return extractArchive(request, '');
  if (method === 'GET' || method === 'HEAD') return getAccount(request);
  request.access.demandOwner(request.account.id);
  if (method === 'POST') return postAccount(request);
  if (method === 'PUT') throw new SwiftRefusal(403, 'Accounts are made by the administrator of the array.');
  if (method === 'DELETE') throw new SwiftRefusal(403, 'Accounts are deleted by the administrator of the array.');
  throw methodNotAllowed('GET', 'HEAD', 'POST');
}
