import type { OutgoingHttpHeaders } from 'node:http';
import type { Bucket } from '@granary/storage/object-store';
import { methodNotAllowed } from './access/sign-in.ts';
import { bulkDelete } from './bulk/bulk-delete.ts';
import { extractArchive } from './bulk/extract-archive.ts';
import { listedTime, writeListing, type Entry } from './containers/formats.ts';
import { pageOf, type Page } from './containers/page.ts';
import { policyName } from './containers/policies.ts';
import { applyChanges, metadataChanges, metadataHeaders, timestamp } from './request/metadata.ts';
import { SwiftRefusal } from './request/refusal.ts';
import { CONTENT_TYPES, formatOf, type SwiftReply, type SwiftRequest } from './request/request.ts';

function accountHeaders(request: SwiftRequest): OutgoingHttpHeaders {
  const { store, account } = request;
  const usage = store.usage(account.id);
  const headers: OutgoingHttpHeaders = {
    'X-Account-Container-Count': String(usage.buckets),
    'X-Account-Object-Count': String(usage.objects),
    'X-Account-Bytes-Used': String(usage.bytes),
    'X-Timestamp': timestamp(account.createdAt),
    'X-Account-Project-Domain-Id': 'default',
    'Accept-Ranges': 'bytes',
    ...metadataHeaders('X-Account-Meta-', account.metadata),
  };
  for (const policy of usage.policies) {
    const prefix = `X-Account-Storage-Policy-${policyName(store, policy.policy).replace(/[^\w.-]/g, '-')}`;
    headers[`${prefix}-Container-Count`] = String(policy.buckets);
    headers[`${prefix}-Object-Count`] = String(policy.objects);
    headers[`${prefix}-Bytes-Used`] = String(policy.bytes);
  }
  return headers;
}

function containerEntry(bucket: Bucket): Entry {
  return {
    name: bucket.name,
    count: bucket.objects,
    bytes: bucket.bytes,
    last_modified: listedTime(bucket.createdAt),
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
      if (subdir === undefined) entries.push(containerEntry(bucket));
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
  const format = formatOf(request);
  const page = pageOf(request.query);
  const entries = listContainers(request, page);
  const headers = { ...accountHeaders(request), 'Content-Type': CONTENT_TYPES[format] };
  if (format === 'plain' && entries.length === 0) return { status: 204, headers };
  const shape = { root: 'account', name: `AUTH_${request.account.id}`, entry: 'container' };
  return { status: 200, headers, body: writeListing(format, shape, entries) };
}

/** Account quotas are not enforced here, so setting one is refused. */
function refuseQuota(changes: ReadonlyMap<string, string | null>): void {
  for (const [name, value] of changes) {
    if (/^quota-(bytes|count)/.test(name) && value !== null) {
      throw new SwiftRefusal(403, `X-Account-Meta-${name}: accounts have no quotas; containers have`);
    }
  }
}

async function postAccount(request: SwiftRequest): Promise<SwiftReply> {
  request.demandRate();
  const changes = metadataChanges(request, 'account');
  refuseQuota(changes);
  applyChanges(request.account.metadata, changes);
  if (changes.size > 0) {
    await request.context.directory.setAccountMetadata(request.account.id, Object.fromEntries(changes));
  }
  return { status: 204, headers: {} };
}

export function handleAccount(request: SwiftRequest): SwiftReply | Promise<SwiftReply> {
  const { method, query } = request;
  if (query.has('bulk-delete') && (method === 'POST' || method === 'DELETE')) return bulkDelete(request);
  if (query.has('extract-archive') && method === 'PUT') return extractArchive(request, '');
  request.access.demandOwner(request.account.id);
  if (method === 'GET') return getAccount(request);
  if (method === 'HEAD') return { status: 204, headers: accountHeaders(request) };
  if (method === 'POST') return postAccount(request);
  if (method === 'PUT') throw new SwiftRefusal(403, 'Accounts are made by the administrator of the array.');
  if (method === 'DELETE') throw new SwiftRefusal(403, 'Accounts are deleted by the administrator of the array.');
  throw methodNotAllowed('GET', 'HEAD', 'POST');
}
