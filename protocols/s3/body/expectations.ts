import { algorithmOf, type Algorithm, CHECKSUM_HEADERS, isChecksum } from '../checksums/checksums.ts';
import { S3Error } from '../errors.ts';
import type { Payload } from '../signature/payload.ts';

/** What a request says of its body, to be held against the bytes. */
export interface Expectations {
  /** Decoded; undefined when it is not known beforehand. */
  readonly size: number | undefined;
  /** Base64. */
  readonly md5?: string;
  /** Hex. */
  readonly sha256?: string;
  readonly checksum?: ExpectedChecksum;
  readonly payload: Payload;
}

export interface ExpectedChecksum {
  readonly algorithm: Algorithm;
  /** Base64; undefined when it comes as a trailer. */
  readonly value?: string;
  /** The trailer it comes as. */
  readonly trailer?: string;
}

type Header = (name: string) => string | undefined;

/** Reads Content-MD5, lengths and checksums; `endless` is a body whose length HTTP does not tell. */
export function readExpectations(header: Header, payload: Payload, endless: boolean): Expectations {
  const size = readSize(header, payload, endless);
  const md5 = header('content-md5');
  if (md5 !== undefined && (md5.length !== 24 || Buffer.from(md5, 'base64').toString('base64') !== md5)) {
    throw new S3Error('InvalidDigest');
  }
  const checksum = readChecksum(header, payload);
  return {
    size,
    payload,
    ...(md5 !== undefined && { md5 }),
    ...(payload.kind === 'plain' && payload.sha256 !== null && { sha256: payload.sha256 }),
    ...(checksum && { checksum }),
  };
}

function readSize(header: Header, payload: Payload, endless: boolean): number {
  const name = payload.kind === 'chunked' ? 'x-amz-decoded-content-length' : 'content-length';
  const text = header(name);
  if (text === undefined) {
    // No length and no body is a body of no bytes.
    if (payload.kind === 'plain' && !endless) return 0;
    throw new S3Error('MissingContentLength', `The header ${name} is needed.`);
  }
  const size = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (size < 0) throw new S3Error('InvalidArgument', `${name} must be a number of bytes.`);
  return size;
}

function readChecksum(header: Header, payload: Payload): ExpectedChecksum | undefined {
  const named = header('x-amz-sdk-checksum-algorithm');
  const wanted = named === undefined ? undefined : algorithmOf(named);
  if (named !== undefined && !wanted) {
    throw new S3Error('InvalidRequest', 'The value of x-amz-sdk-checksum-algorithm is not a known algorithm.');
  }
  const inHeader = checksumHeader(header);
  const inTrailer = announcedTrailer(header, payload);
  if (inHeader && inTrailer) {
    throw new S3Error(
      'InvalidRequest',
      'Expecting a single x-amz-checksum- header: give it as a header or as a trailer.',
    );
  }
  const found = inHeader ?? inTrailer;
  if (!found && wanted) {
    throw new S3Error(
      'InvalidRequest',
      'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.',
    );
  }
  if (!found) return undefined;
  if (wanted && wanted !== found.algorithm) {
    throw new S3Error('InvalidRequest', 'x-amz-sdk-checksum-algorithm is not that of the checksum that was sent.');
  }
  return found;
}

function checksumHeader(header: Header): ExpectedChecksum | undefined {
  let found: ExpectedChecksum | undefined;
  for (const [name, algorithm] of HEADERS) {
    const value = header(name);
    if (value === undefined) continue;
    if (found) throw new S3Error('InvalidRequest', 'There must be one x-amz-checksum- header, not several.');
    if (!isChecksum(algorithm, value)) throw new S3Error('InvalidRequest', `Value for ${name} header is invalid.`);
    found = { algorithm, value };
  }
  return found;
}

const HEADERS = Object.entries(CHECKSUM_HEADERS);

function announcedTrailer(header: Header, payload: Payload): ExpectedChecksum | undefined {
  const text = header('x-amz-trailer');
  if (text === undefined) return undefined;
  const trailer = text.trim().toLowerCase();
  const algorithm = Object.hasOwn(CHECKSUM_HEADERS, trailer) ? CHECKSUM_HEADERS[trailer] : undefined;
  if (!algorithm || payload.kind !== 'chunked' || !payload.trailer) {
    throw new S3Error('InvalidRequest', 'x-amz-trailer must name one checksum, in a request with trailers.');
  }
  return { algorithm, trailer };
}
