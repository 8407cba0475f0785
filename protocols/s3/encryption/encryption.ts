import type { OutgoingHttpHeaders } from 'node:http';
import type { ObjectAttributes, ObjectVersion, Upload } from '@granary/storage/object-store';
import { badArgument, S3Error } from '../errors.ts';
import type { S3Request } from '../request.ts';
import { customerHeaders, type CustomerKey, customerKeyOf, type OF_SOURCE, OWN } from './customer-key.ts';
import { newSeal, opensSeal } from './sealing.ts';

const SSE = 'x-amz-server-side-encryption';

/** How the bytes of an object that is written are to be kept. */
export type Encryption =
  | { readonly kind: 'none' }
  | { readonly kind: 'array' }
  | {
      readonly kind: 'customer';
      readonly key: CustomerKey;
      readonly seal: NonNullable<ObjectAttributes['customerKey']>;
    };

/** What a write asks for, else what the bucket or the array does with all. */
export function encryptionOf(request: S3Request): Encryption {
  const { bucket, context } = request;
  const key = customerKeyOf(request);
  const asked = isAsked(request);
  if (key !== null) {
    if (asked) {
      throw badArgument(
        SSE,
        request.header(SSE) ?? '',
        'Server Side Encryption with Customer provided key is incompatible with the encryption method specified',
      );
    }
    return { kind: 'customer', key, seal: newSeal(key) };
  }
  const isWanted = asked || bucket.settings.encryption !== undefined || context.store.isEncrypting;
  return isWanted ? { kind: 'array' } : { kind: 'none' };
}

/** Whether `x-amz-server-side-encryption` asks for encryption with a key of the array's. */
function isAsked(request: S3Request): boolean {
  const algorithm = request.header(SSE);
  const keyOfService = ['aws-kms-key-id', 'context', 'bucket-key-enabled']
    .map((part) => `${SSE}-${part}`)
    .find((name) => (request.header(name) ?? 'false') !== 'false');
  if (keyOfService !== undefined && algorithm?.startsWith('aws:') !== true) {
    throw badArgument(keyOfService, '', `${keyOfService} requires the header ${SSE}: aws:kms`);
  }
  if (algorithm === undefined) return false;
  if (algorithm.startsWith('aws:')) throw noKeyService();
  if (algorithm !== 'AES256') throw badArgument(SSE, algorithm, 'The encryption method specified is not supported');
  if (!request.context.store.canEncrypt) throw new S3Error('NotImplemented', 'This array cannot encrypt.');
  return true;
}

export function noKeyService(): S3Error {
  return new S3Error('NotImplemented', 'Encryption with keys of a key service is not offered here; AES256 is.');
}

/** Headers that only a write has. */
export function refuseOnRead(request: S3Request): void {
  const value = request.header(SSE);
  if (value !== undefined) throw badArgument(SSE, value, `${SSE} header is not supported for this operation.`);
}

/** The key that a version is read with; null for one without. Anything else is refused. */
export function keyToRead(
  request: S3Request,
  { attributes: { customerKey: seal } }: ObjectVersion,
  prefix: typeof OWN | typeof OF_SOURCE = OWN,
): CustomerKey | null {
  const key = customerKeyOf(request, prefix);
  if (seal === undefined) {
    if (key === null) return null;
    throw new S3Error('InvalidRequest', 'The encryption parameters are not applicable to this object.');
  }
  if (key === null) throw new S3Error('InvalidRequest', NEEDS_KEY);
  if (!opensSeal(seal, key)) {
    throw new S3Error('AccessDenied', 'The key is not the one that the object was encrypted with.');
  }
  return key;
}

const NEEDS_KEY =
  'The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.';

/** How a part of an upload is kept: as the upload began. */
export function encryptionOfPart(request: S3Request, { attributes }: Upload): Encryption {
  const { customerKey: seal, encryption } = attributes;
  const key = customerKeyOf(request);
  if (seal === undefined) {
    if (key === null) return encryption === undefined ? { kind: 'none' } : { kind: 'array' };
    throw new S3Error(
      'InvalidRequest',
      'The multipart upload initiate did not request encryption. Please resend the request without sending encryption parameters.',
    );
  }
  if (key === null) {
    throw new S3Error(
      'InvalidRequest',
      'The multipart upload initiate requested encryption. Subsequent part requests must include the appropriate encryption parameters.',
    );
  }
  if (!opensSeal(seal, key)) {
    throw new S3Error('InvalidRequest', 'The provided encryption parameters did not match the ones used originally.');
  }
  return { kind: 'customer', key, seal };
}

/** What is kept of it beside the bytes. */
export function attributesOfEncryption(
  encryption: Encryption,
  starts: readonly string[],
): Pick<ObjectAttributes, 'encryption' | 'customerKey'> {
  if (encryption.kind === 'none') return {};
  if (encryption.kind === 'array') return { encryption: 'AES256' };
  return { customerKey: { ...encryption.seal, starts } };
}

/** What a reply to a write says. */
export function writtenEncryption(encryption: Encryption): OutgoingHttpHeaders {
  if (encryption.kind === 'none') return {};
  return encryption.kind === 'array' ? { [SSE]: 'AES256' } : customerHeaders(encryption.key);
}

/** And one to a read. What has no record of its own may be encrypted all the same: Swift and releases before keep none. */
export function readEncryption(
  { bucket, context: { store } }: S3Request,
  version: ObjectVersion,
  key: CustomerKey | null,
): OutgoingHttpHeaders {
  if (key !== null) return customerHeaders(key);
  if (version.attributes.encryption !== undefined) return { [SSE]: 'AES256' };
  const mayBe = store.isEncrypting || bucket.settings.encryption !== undefined;
  return mayBe && store.isEncrypted(version) ? { [SSE]: 'AES256' } : {};
}

/** Whether it is encrypted with a key of the array's. */
export function isEncrypted(store: S3Request['context']['store'], version: ObjectVersion): boolean {
  return version.attributes.encryption !== undefined || store.isEncrypted(version);
}
