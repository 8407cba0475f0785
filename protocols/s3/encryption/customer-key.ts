import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { badArgument, S3Error } from '../errors.ts';
import type { S3Request } from '../request.ts';

/** A key that the client sends with each request (SSE-C). It is not kept: only what tells whether it is the same again. */
export interface CustomerKey {
  readonly key: Buffer;
  /** Base64, as the client gave it. */
  readonly md5: string;
}

export const OWN = 'x-amz-server-side-encryption-customer';
export const OF_SOURCE = 'x-amz-copy-source-server-side-encryption-customer';

const KEY_BYTES = 32;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The key in the headers of a request, for itself or for the source of a copy; null without any. */
export function customerKeyOf(request: S3Request, prefix: typeof OWN | typeof OF_SOURCE = OWN): CustomerKey | null {
  const [algorithm, encoded, md5] = ['algorithm', 'key', 'key-md5'].map((part) => request.header(`${prefix}-${part}`));
  if (algorithm === undefined && encoded === undefined && md5 === undefined) return null;
  demandSafeWay(request);
  if (algorithm === undefined) throw incomplete(`${prefix}-algorithm`, 'provide a valid encryption algorithm');
  if (algorithm !== 'AES256') {
    throw new S3Error('InvalidEncryptionAlgorithmError', undefined, { ArgumentName: `${prefix}-algorithm` });
  }
  if (encoded === undefined) throw incomplete(`${prefix}-key`, 'provide an appropriate secret key');
  if (md5 === undefined) throw incomplete(`${prefix}-key-MD5`, 'provide the client calculated MD5 of the secret key');
  const key = Buffer.from(encoded, 'base64');
  // The key itself must not come back in an answer, which may be logged.
  if (!BASE64.test(encoded) || key.length !== KEY_BYTES) {
    throw badArgument(`${prefix}-key`, '', 'The secret key was invalid for the specified algorithm.');
  }
  if (createHash('md5').update(key).digest('base64') !== md5) {
    throw badArgument(
      `${prefix}-key-MD5`,
      md5,
      'The calculated MD5 hash of the key did not match the hash that was provided.',
    );
  }
  return { key, md5 };
}

function incomplete(name: string, what: string): S3Error {
  return badArgument(name, '', `Requests specifying Server Side Encryption with Customer provided keys must ${what}.`);
}

/** A key in clear on a network is no secret any more. A connection within the machine is on none. */
function demandSafeWay({ secure, ip }: S3Request): void {
  if (secure || ip.startsWith('127.') || ip === '::1') return;
  throw new S3Error(
    'InvalidRequest',
    'Requests specifying Server Side Encryption with Customer provided keys must be made over a secure connection.',
  );
}

export function customerHeaders({ md5 }: CustomerKey): OutgoingHttpHeaders {
  return { [`${OWN}-algorithm`]: 'AES256', [`${OWN}-key-MD5`]: md5 };
}
