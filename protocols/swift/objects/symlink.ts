import type { OutgoingHttpHeaders } from 'node:http';
import type { Bucket, ObjectVersion, Symlink } from '@granary/storage/object-store';
import type { AccountState } from '../../objects/context.ts';
import { accountOf } from '../access/identify.ts';
import { checkNames, splitObjectPath } from '../request/address.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { ObjectRequest, SwiftRequest } from '../request/request.ts';
import { headerValue, percentDecode, percentEncode } from '../request/text.ts';
import { findVersion } from './find.ts';

/**
 * A symlink is an empty object that names another. A dynamic one leads to whatever has that name when it is read; a static
 * one names the ETag as well, and leads to that object or to a conflict.
 */

/** A symlink may lead to a symlink: so many are followed. */
export const SYMLINKS_MAX = 2;

/** What is read in the place of an object: the object itself, or the target that its symlinks lead to. */
export interface Followed {
  readonly account: AccountState;
  readonly bucket: Bucket;
  readonly version: ObjectVersion;
  /** Address of the target; null where no symlink was followed. */
  readonly location: string | null;
}

export function pathOf(account: string, container: string, object: string): string {
  return `/v1/AUTH_${account}/${percentEncode(`${container}/${object}`)}`;
}

function etagOf({ etag, attributes }: ObjectVersion): string {
  return attributes.staticManifest?.etag ?? etag;
}

function sizeOf({ size, attributes }: ObjectVersion): number {
  return attributes.staticManifest?.size ?? size;
}

function mismatch(link: Symlink, target: ObjectVersion, location: string): SwiftRefusal {
  const message = `Object Etag '${etagOf(target)}' does not match X-Symlink-Target-Etag header '${link.etag ?? ''}'`;
  return new SwiftRefusal(409, message, { 'content-location': location });
}

async function step(request: SwiftRequest, account: AccountState, link: Symlink): Promise<Followed> {
  const { context, settings, store, access, now } = request;
  const found = link.account === undefined ? account : await accountOf(context, settings, link.account);
  const location = pathOf(found?.id ?? link.account ?? account.id, link.container, link.object);
  const missing = new SwiftRefusal(404, 'The target of the symlink could not be found.', {
    'content-location': location,
  });
  const bucket = found === undefined ? undefined : store.bucket(found.id, link.container);
  if (found === undefined || bucket === undefined) {
    access.demand(access.sees(found?.id ?? ''), found?.id ?? '');
    throw missing;
  }
  access.knows(found);
  if (!found.enabled) throw new SwiftRefusal(403, 'The account of the target is disabled.');
  access.demand(access.mayRead(bucket, link.object), found.id);
  const version = findVersion(store, bucket, link.object, now);
  if (version === undefined) throw missing;
  if (link.etag !== undefined && etagOf(version) !== link.etag) throw mismatch(link, version, location);
  return { account: found, bucket, version, location };
}

/** Where an object's symlinks lead. Each is open to who may read the symlink and what it names. */
export async function followSymlinks(
  request: SwiftRequest,
  start: { readonly account: AccountState; readonly bucket: Bucket; readonly version: ObjectVersion },
): Promise<Followed> {
  let at: Followed = { ...start, location: null };
  for (let followed = 0; at.version.attributes.symlink !== undefined; followed++) {
    if (followed === SYMLINKS_MAX) {
      throw new SwiftRefusal(409, `Too many levels of symbolic links, maximum allowed is ${SYMLINKS_MAX}`);
    }
    at = await step(request, at.account, at.version.attributes.symlink);
  }
  return at;
}

/** `?symlink=get` asks for the symlink itself. */
export function asksForSymlink({ query }: Pick<SwiftRequest, 'query'>): boolean {
  return query.get('symlink') === 'get';
}

function targetOf(header: string): { readonly container: string; readonly object: string } {
  const path = splitObjectPath(percentDecode(Buffer.from(header, 'utf8').toString('latin1')));
  if (path === undefined) {
    throw new SwiftRefusal(412, 'X-Symlink-Target header must be of the form <container name>/<object name>');
  }
  checkNames(path.container, path.object);
  return path;
}

async function targetAccount(request: ObjectRequest): Promise<AccountState> {
  const header = request.header('x-symlink-target-account');
  if (header === undefined || header === '') return request.account;
  if (header.includes('/')) throw new SwiftRefusal(412, 'Account name cannot contain slashes');
  const name = percentDecode(header).replace(/^AUTH_/, '');
  const account = await accountOf(request.context, request.settings, name);
  if (account === undefined)
    throw new SwiftRefusal(412, 'X-Symlink-Target-Account names no account that is known here');
  return account;
}

/** The ETag that a static symlink is held to, and the size of what has it. */
async function pinned(request: ObjectRequest, account: AccountState, link: Symlink): Promise<Partial<Symlink>> {
  const header = request.header('x-symlink-target-etag');
  if (header === undefined || header === '') return {};
  const etag = header.trim().replace(/^"(.*)"$/, '$1');
  if (/[;"'\\]/.test(etag)) throw new SwiftRefusal(400, 'Bad X-Symlink-Target-Etag');
  try {
    const { version } = await step(request, account, { ...link, etag });
    return { etag, bytes: sizeOf(version) };
  } catch (error) {
    if (error instanceof SwiftRefusal && error.status === 404) {
      throw new SwiftRefusal(409, 'X-Symlink-Target does not exist', error.headers);
    }
    throw error;
  }
}

/** What a PUT says of a symlink; undefined where it says nothing. */
export async function readSymlink(request: ObjectRequest): Promise<Symlink | undefined> {
  const header = request.header('x-symlink-target');
  if (header === undefined) {
    for (const name of ['X-Symlink-Target-Account', 'X-Symlink-Target-Etag']) {
      if (request.header(name.toLowerCase()) !== undefined)
        throw new SwiftRefusal(400, `${name} needs X-Symlink-Target`);
    }
    return undefined;
  }
  if (request.access.isTemporary) throw new SwiftRefusal(400, 'X-Symlink-Target is not allowed in temporary URLs');
  if ((request.body.length ?? 0) > 0 || request.body.chunked) {
    throw new SwiftRefusal(400, 'Symlink requests require a zero byte body');
  }
  const { container, object } = targetOf(header);
  const account = await targetAccount(request);
  const isOwn = account.id === request.account.id;
  if (isOwn && container === request.container && object === request.object) {
    throw new SwiftRefusal(400, 'Symlink cannot target itself');
  }
  const link: Symlink = { ...(isOwn ? {} : { account: account.id }), container, object };
  return { ...link, ...(await pinned(request, request.account, link)) };
}

/** How a symlink shows itself. */
export function symlinkHeaders({ account, container, object, etag, bytes }: Symlink): OutgoingHttpHeaders {
  return {
    'X-Symlink-Target': headerValue(percentEncode(`${container}/${object}`)),
    ...(account === undefined ? {} : { 'X-Symlink-Target-Account': `AUTH_${account}` }),
    ...(etag === undefined
      ? {}
      : { 'X-Symlink-Target-Etag': headerValue(etag), 'X-Symlink-Target-Bytes': String(bytes ?? 0) }),
  };
}

/** How a listing shows one. */
export function symlinkEntry(owner: string, { account, container, object, etag, bytes }: Symlink) {
  return {
    symlink_path: pathOf(account ?? owner, container, object),
    ...(etag === undefined ? {} : { symlink_etag: etag, symlink_bytes: bytes ?? 0 }),
  };
}
