import { createHash } from 'node:crypto';
import type { Checksum, NewContent, ObjectAttributes } from '@granary/storage/object-store';
import { summer } from '../../checksums/checksums.ts';
import { attributesOfEncryption, type Encryption } from '../../encryption/encryption.ts';
import { Sealer } from '../../encryption/sealing.ts';
import type { S3Request } from '../../request.ts';

/** Up to this size a body is taken in as one buffer: a stream costs more. Beyond, the large fresh buffer does. */
const SMALL_BYTES = 64 * 1024;

export interface StagedBody {
  readonly content: NewContent;
  readonly size: number;
  readonly etag: string;
  readonly checksum: Checksum | null;
  /** What has to be kept to decrypt it. */
  readonly encryption: Pick<ObjectAttributes, 'encryption' | 'customerKey'>;
  /** Where its own encryption starts; null where it has none. */
  readonly start: string | null;
}

/** How bytes are to be kept. */
export interface StagedAs {
  readonly encryption: Encryption;
  /** Index of the storage policy. */
  readonly policy: number;
  /** Of the checksum that is wanted of them. */
  readonly algorithm: Checksum['algorithm'] | null;
}

/** Takes in a body for a commit. It has been verified when this resolves. */
export async function stageBody(request: S3Request, encryption: Encryption, policy: number): Promise<StagedBody> {
  const { body } = request;
  const small = body.size !== undefined && body.size <= SMALL_BYTES;
  const staging = new Staging(request, encryption, policy);
  const content = await staging.stage(small ? await body.bytes(SMALL_BYTES) : body.stream(), body.size);
  const { md5, ...result } = body.result();
  return { content, ...result, ...staging.kept(md5) };
}

/** The same of bytes that are at hand. */
export async function stageBytes(
  request: S3Request,
  { encryption, policy, algorithm }: StagedAs,
  { bytes, size }: { readonly bytes: AsyncIterable<Uint8Array>; readonly size: number },
): Promise<StagedBody> {
  const md5 = createHash('md5');
  const sum = algorithm === null ? null : summer(algorithm);
  async function* summed(): AsyncGenerator<Uint8Array, void> {
    for await (const piece of bytes) {
      md5.update(piece);
      sum?.update(piece);
      yield piece;
    }
  }
  const staging = new Staging(request, encryption, policy);
  const content: NewContent = size === 0 ? { kind: 'empty' } : await staging.stage(summed(), size);
  const checksum: Checksum | null =
    algorithm === null || sum === null ? null : { algorithm, value: sum.digest(), type: 'FULL_OBJECT' };
  return { content, size, checksum, ...staging.kept(md5.digest('hex')) };
}

/** Bytes on their way to the store of a bucket, encrypted as they are to be. */
class Staging {
  readonly #request: S3Request;
  readonly #encryption: Encryption;
  readonly #policy: number;
  readonly #sealer: Sealer | undefined;

  constructor(request: S3Request, encryption: Encryption, policy: number) {
    this.#request = request;
    this.#policy = policy;
    this.#encryption = encryption;
    this.#sealer = encryption.kind === 'customer' ? new Sealer(encryption.seal, encryption.key) : undefined;
  }

  stage(bytes: Uint8Array | AsyncIterable<Uint8Array>, size: number | undefined): Promise<NewContent> {
    const { context } = this.#request;
    const sealer = this.#sealer;
    const kept =
      sealer === undefined ? bytes : bytes instanceof Uint8Array ? sealer.sealed(bytes) : each(bytes, sealer);
    return context.store.stage(this.#policy, kept, size, { encrypt: this.#encryption.kind === 'array' });
  }

  kept(md5: string): Pick<StagedBody, 'etag' | 'encryption' | 'start'> {
    const start = this.#sealer?.start ?? null;
    return {
      etag: this.#sealer?.etag(md5) ?? md5,
      encryption: attributesOfEncryption(this.#encryption, start === null ? [] : [start]),
      start,
    };
  }
}

async function* each(bytes: AsyncIterable<Uint8Array>, sealer: Sealer): AsyncGenerator<Uint8Array, void> {
  for await (const piece of bytes) yield sealer.sealed(piece);
}
