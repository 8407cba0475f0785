import { S3Error } from '../errors.ts';

/** How the body comes and what was said of it beforehand. */
export type Payload =
  | { readonly kind: 'plain'; readonly sha256: string | null }
  /** aws-chunked, with checksums (and signatures) behind the data where `trailer`. */
  | { readonly kind: 'chunked'; readonly signed: boolean; readonly trailer: boolean };

export const UNSIGNED = 'UNSIGNED-PAYLOAD';
export const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** The value of x-amz-content-sha256. */
export function readPayload(value: string): Payload {
  switch (value) {
    case UNSIGNED:
      return { kind: 'plain', sha256: null };
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD':
      return { kind: 'chunked', signed: true, trailer: false };
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER':
      return { kind: 'chunked', signed: true, trailer: true };
    case 'STREAMING-UNSIGNED-PAYLOAD-TRAILER':
      return { kind: 'chunked', signed: false, trailer: true };
  }
  if (value.startsWith('STREAMING-')) {
    throw new S3Error('NotImplemented', `x-amz-content-sha256 '${value.slice(0, 64)}' is not offered here.`);
  }
  if (!/^[0-9a-f]{64}$/.test(value)) {
    throw new S3Error(
      'InvalidArgument',
      `x-amz-content-sha256 must be ${UNSIGNED}, a STREAMING- value, or a SHA-256 in hex.`,
      { ArgumentName: 'x-amz-content-sha256', ArgumentValue: value.slice(0, 256) },
    );
  }
  return { kind: 'plain', sha256: value };
}
