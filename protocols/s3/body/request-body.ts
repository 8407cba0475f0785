import { createHash, hash, type Hash } from 'node:crypto';
import type { Checksum } from '@granary/storage/object-store';
import { type Algorithm, checksumOf, isChecksum, type Summer, summer } from '../checksums/checksums.ts';
import { S3Error } from '../errors.ts';
import type { BodyResult, S3Body } from '../request.ts';
import type { ChunkSigner } from '../signature/chunk-signer.ts';
import { sameText } from '../signature/same-text.ts';
import { ChunkDecoder } from './chunk-decoder.ts';
import type { Expectations } from './expectations.ts';
import { type BodySource, IncomingSource } from './source.ts';

const SMALL_BYTES = 64 * 1024;
/** Most documents are small; operations whose are not say so. */
const TEXT_BYTES_MAX = 64 * 1024;
/** The largest body of one request. */
export const BODY_BYTES_MAX = 5 * 2 ** 30;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** What the bytes turned out to be; each is computed when it is asked for, or as they come. */
interface Digests {
  readonly size: number;
  md5(encoding: 'hex' | 'base64'): string;
  sha256(): string;
  checksum(): string;
}

export class S3RequestBody implements S3Body {
  readonly #source: BodySource;
  readonly #expected: Expectations;
  readonly #decoder: ChunkDecoder | null;
  /** For bodies whose size is not known beforehand. */
  readonly #sizeCheck: ((size: number, ended: boolean) => void) | undefined;
  #algorithm: Algorithm | undefined;
  #begun = false;
  #result: (() => BodyResult) | undefined;
  /** Bytes of object data that came. */
  received = 0;

  constructor(
    source: BodySource,
    expected: Expectations,
    signer: ChunkSigner | null,
    sizeCheck?: (size: number, ended: boolean) => void,
  ) {
    if ((expected.size ?? 0) > BODY_BYTES_MAX) throw tooLarge(BODY_BYTES_MAX);
    this.#source = source;
    this.#expected = expected;
    this.#sizeCheck = sizeCheck;
    const { payload } = expected;
    this.#decoder = payload.kind === 'chunked' ? new ChunkDecoder(signer, payload.trailer) : null;
    this.#algorithm = expected.checksum?.algorithm;
  }

  get size(): number | undefined {
    return this.#expected.size;
  }

  compute(algorithm: Algorithm): void {
    this.#algorithm ??= algorithm;
  }

  bytes(limit = SMALL_BYTES): Promise<Uint8Array> {
    return this.#whole(limit, tooLarge);
  }

  async text(limit = TEXT_BYTES_MAX): Promise<string> {
    const bytes = await this.#whole(limit, () => new S3Error('MaxMessageLengthExceeded')).finally(() => {
      this.received = 0;
    });
    try {
      return utf8.decode(bytes);
    } catch {
      throw new S3Error('MalformedXML', 'The body is not UTF-8.');
    }
  }

  stream(): AsyncGenerator<Uint8Array, void> {
    return this.#read(this.#source.passing?.() ?? this.#source.chunks());
  }

  async *#read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    this.#start();
    const md5 = createHash('md5');
    const sha256 = this.#expected.sha256 === undefined ? null : createHash('sha256');
    const sum = this.#algorithm === undefined ? null : summer(this.#algorithm);
    for await (const raw of chunks) {
      for (const bytes of this.#decoder ? this.#decoder.push(raw) : [raw]) {
        this.#count(bytes.length);
        md5.update(bytes);
        sha256?.update(bytes);
        sum?.update(bytes);
        yield bytes;
      }
    }
    this.#finish(streamed(this.received, md5, sha256, sum));
  }

  result(): BodyResult {
    if (!this.#result) throw new Error('the body has not been read to its end');
    return this.#result();
  }

  #start(): void {
    if (this.#begun) throw new Error('a body can be read once');
    this.#begun = true;
  }

  /** Stops a body that says too little of itself before it fills the drives. */
  #count(length: number): void {
    this.received += length;
    this.#sizeCheck?.(this.received, false);
    if (this.received > (this.#expected.size ?? BODY_BYTES_MAX)) {
      throw this.#expected.size === undefined
        ? tooLarge(BODY_BYTES_MAX)
        : new S3Error('IncompleteBody', 'The body is longer than announced.');
    }
  }

  async #whole(limit: number, error: (limit: number) => S3Error): Promise<Uint8Array> {
    const { size } = this.#expected;
    if (size !== undefined && size > limit) throw error(limit);
    if (size !== undefined && !this.#decoder && this.#source instanceof IncomingSource)
      return this.#fast(size, this.#source);
    const pieces: Uint8Array[] = [];
    for await (const piece of this.#read(this.#source.chunks())) {
      if (this.received > limit) throw error(limit);
      pieces.push(piece);
    }
    return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
  }

  async #fast(size: number, source: IncomingSource): Promise<Uint8Array> {
    this.#start();
    if (size === 0) return this.#verified(new Uint8Array(0));
    try {
      return this.#verified(await source.whole(size));
    } finally {
      this.received = source.received;
    }
  }

  #verified(bytes: Uint8Array): Uint8Array {
    this.#finish(wholly(bytes, this.#algorithm));
    return bytes;
  }

  /** Holds everything that was said against what came. */
  #finish(digests: Digests): void {
    this.#decoder?.end();
    this.#refuseOtherTrailers();
    const { size, md5, sha256 } = this.#expected;
    if (size !== undefined && digests.size !== size) throw new S3Error('IncompleteBody');
    this.#sizeCheck?.(digests.size, true);
    if (sha256 !== undefined && !sameText(sha256, digests.sha256())) {
      throw new S3Error('XAmzContentSHA256Mismatch', undefined, { ClientComputedContentSHA256: sha256 });
    }
    if (md5 !== undefined && !sameText(md5, digests.md5('base64'))) throw new S3Error('BadDigest');
    const checksum = this.#checksum(digests);
    this.#result = () => ({ size: digests.size, md5: digests.md5('hex'), checksum });
  }

  #checksum(digests: Digests): Checksum | null {
    const algorithm = this.#algorithm;
    if (algorithm === undefined) return null;
    const { value: given, trailer } = this.#expected.checksum ?? {};
    const value = digests.checksum();
    const said = trailer === undefined ? given : this.#trailer(trailer, algorithm);
    if (said !== undefined && said !== value) {
      throw new S3Error('BadDigest', `The ${algorithm} you specified did not match the calculated checksum.`);
    }
    return { algorithm, value, type: 'FULL_OBJECT' };
  }

  #trailer(name: string, algorithm: Algorithm): string {
    const value = this.#decoder?.trailers.get(name);
    if (value === undefined) throw new S3Error('MalformedTrailerError', `The trailer ${name} is missing.`);
    if (!isChecksum(algorithm, value)) throw new S3Error('InvalidRequest', `Value for ${name} trailer is invalid.`);
    return value;
  }

  /** A trailer that x-amz-trailer did not announce would not be verified. */
  #refuseOtherTrailers(): void {
    for (const name of this.#decoder?.trailers.keys() ?? []) {
      if (name === this.#expected.checksum?.trailer) continue;
      throw new S3Error(
        'MalformedTrailerError',
        `The trailer ${name.slice(0, 64)} was not announced by x-amz-trailer.`,
      );
    }
  }
}

function streamed(size: number, md5: Hash, sha256: Hash | null, sum: Summer | null): Digests {
  const md5Bytes = once(() => md5.digest());
  return {
    size,
    md5: (encoding) => md5Bytes().toString(encoding),
    sha256: () => sha256?.digest('hex') ?? '',
    checksum: () => sum?.digest() ?? '',
  };
}

function wholly(bytes: Uint8Array, algorithm: Algorithm | undefined): Digests {
  return {
    size: bytes.length,
    md5: (encoding) => hash('md5', bytes, encoding),
    sha256: () => hash('sha256', bytes),
    checksum: () => (algorithm === undefined ? '' : checksumOf(algorithm, bytes)),
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function tooLarge(limit: number): S3Error {
  return new S3Error('EntityTooLarge', undefined, { MaxSizeAllowed: String(limit) });
}
