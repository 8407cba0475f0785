import type { OutgoingHttpHeaders } from 'node:http';
import type { Bucket, Checksum, ObjectVersion } from '@granary/storage/object-store';
import type { S3Reply, S3Request } from '../request.ts';
import { element, field, xmlDocument } from '../xml.ts';

export const NO_CONTENT: S3Reply = { status: 204 };

export function xmlReply(root: string, inner: string, headers?: OutgoingHttpHeaders): S3Reply {
  return { status: 200, body: xmlDocument(root, inner), ...(headers !== undefined && { headers }) };
}

export function quoted(etag: string): string {
  return `"${etag}"`;
}

/** `<ChecksumCRC32>…</ChecksumCRC32>` and its type. */
export function checksumFields(checksum: Checksum | null | undefined): string {
  return checksum === null || checksum === undefined
    ? ''
    : field(`Checksum${checksum.algorithm}`, checksum.value) + field('ChecksumType', checksum.type);
}

export function checksumHeaders(checksum: Checksum | null | undefined): OutgoingHttpHeaders {
  return checksum === null || checksum === undefined
    ? {}
    : { [`x-amz-checksum-${checksum.algorithm.toLowerCase()}`]: checksum.value, 'x-amz-checksum-type': checksum.type };
}

/** Buckets that never had versions do not talk of them. */
export function versionHeader(bucket: Bucket, version: Pick<ObjectVersion, 'versionId'>): OutgoingHttpHeaders {
  return bucket.versioning === 'off' ? {} : { 'x-amz-version-id': version.versionId };
}

/** To S3 the account owns what is in its buckets, whichever of its users put it there. */
export async function ownerFields(request: S3Request, account: string): Promise<string> {
  const name =
    request.caller?.account === account
      ? request.caller.accountName
      : (await request.context.directory.account(account))?.name;
  return field('ID', account) + field('DisplayName', name ?? account);
}

export async function ownerElement(request: S3Request, account: string): Promise<string> {
  return element('Owner', await ownerFields(request, account));
}

/** Elements of owners by account: of `undefined` that of the bucket's. */
export type Owners = ReadonlyMap<string | undefined, string>;

/** Of everything in a listing: most is the bucket's. */
export async function ownersOf(
  request: S3Request,
  listed: readonly { readonly attributes: { readonly writer?: string } }[],
): Promise<Owners> {
  const owners = new Map([[undefined as string | undefined, await ownerElement(request, request.bucket.account)]]);
  for (const { writer } of listed.map(({ attributes }) => attributes)) {
    if (!owners.has(writer)) owners.set(writer, await ownerElement(request, writer ?? request.bucket.account));
  }
  return owners;
}
