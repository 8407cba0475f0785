import { createHash, hash } from 'node:crypto';
import type { Bucket, NewContent, ObjectStore } from '@granary/storage/object-store';
import { accountRoom } from '../../objects/account-quota.ts';
import type { AccountState } from '../../objects/context.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { SwiftRequest } from '../request/request.ts';

/** As OpenStack's own servers have it: 5 GiB and a little. Larger ones are put as segments with a manifest. */
export const MAX_OBJECT_SIZE = 5_368_709_122;
/** Up to here a body is taken whole: one hash, one write. */
const SMALL = 1024 * 1024;

export interface Uploaded {
  readonly content: NewContent;
  readonly size: number;
  /** MD5, hex. */
  readonly etag: string;
}

type Target = Pick<Bucket, 'policy' | 'settings'>;

/** What S3 clients set for a bucket holds for what comes over Swift, too. */
function kept({ settings }: Target): { readonly encrypt: boolean } {
  return { encrypt: settings.encryption !== undefined };
}

export const EMPTY_MD5 = 'd41d8cd98f00b204e9800998ecf8427e';

/** How many bytes more a container and its account take; 413 when they take no object more. */
export function demandRoom(
  { store, access }: Pick<SwiftRequest, 'store' | 'access'>,
  account: AccountState,
  bucket: Bucket,
  size: number | undefined,
): number {
  const { quotaBytes, quotaObjects } = bucket.settings;
  const inAccount = access.isOperator ? Infinity : accountRoom(store, account);
  const room = Math.min(quotaBytes === undefined ? Infinity : quotaBytes - bucket.bytes, inAccount);
  if (room < (size ?? 0) || inAccount <= 0 || (quotaObjects !== undefined && bucket.objects + 1 > quotaObjects)) {
    throw new SwiftRefusal(413, 'Upload exceeds quota.');
  }
  return room;
}

export async function stageBytes(store: ObjectStore, bucket: Target, bytes: Uint8Array): Promise<Uploaded> {
  const etag = bytes.length === 0 ? EMPTY_MD5 : hash('md5', bytes, 'hex');
  const content: NewContent =
    bytes.length === 0 ? { kind: 'empty' } : await store.stage(bucket.policy, bytes, bytes.length, kept(bucket));
  return { content, size: bytes.length, etag };
}

export async function stageStream(
  store: ObjectStore,
  bucket: Target,
  bytes: AsyncIterable<Uint8Array>,
  size: number | undefined,
): Promise<Uploaded> {
  const md5 = createHash('md5');
  let count = 0;
  async function* hashed(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of bytes) {
      md5.update(chunk);
      count += chunk.length;
      yield chunk;
    }
  }
  const content = await store.stage(bucket.policy, hashed(), size, kept(bucket));
  return { content, size: count, etag: md5.digest('hex') };
}

function demandEtag(request: SwiftRequest, etag: string): void {
  const claimed = request.header('etag')?.trim().replaceAll('"', '').toLowerCase();
  if (claimed !== undefined && claimed !== '' && claimed !== etag) {
    throw new SwiftRefusal(422, 'The ETag you sent is not the MD5 of the bytes that came.');
  }
}

/** Takes the body of a PUT. Nothing is to be seen of it before a commit names it. */
export async function acceptUpload(request: SwiftRequest, bucket: Bucket): Promise<Uploaded> {
  const { body, store } = request;
  if (body.length === undefined && !body.chunked) throw new SwiftRefusal(411, 'Missing Content-Length header.');
  const room = demandRoom(request, request.account, bucket, body.length);
  const limit = Math.min(room, MAX_OBJECT_SIZE);
  const tooLarge = room < MAX_OBJECT_SIZE ? 'Upload exceeds quota.' : 'Your request is too large.';
  if (body.length !== undefined && body.length > limit) throw new SwiftRefusal(413, tooLarge);
  request.meterBody();
  if (body.length !== undefined && body.length <= SMALL) {
    const bytes = await body.whole(limit, tooLarge);
    if (request.header('etag') !== undefined) demandEtag(request, hash('md5', bytes, 'hex'));
    return stageBytes(store, bucket, bytes);
  }
  const uploaded = await stageStream(store, bucket, body.stream(limit, tooLarge), body.length);
  demandEtag(request, uploaded.etag);
  return uploaded;
}
