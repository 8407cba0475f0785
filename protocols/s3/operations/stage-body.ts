import type { Checksum, NewContent, ObjectStore } from '@granary/storage/objects';
import type { S3Body } from '../request.ts';

/** Up to this size a body is taken in as one buffer: a stream costs more. Beyond, the large fresh buffer does. */
const SMALL_BYTES = 64 * 1024;

export interface StagedBody {
  readonly content: NewContent;
  readonly size: number;
  readonly md5: string;
  readonly checksum: Checksum | null;
}

/** Takes in a body and puts it on the drives. The body has been verified when this resolves. */
export async function stageBody(store: ObjectStore, policy: number, body: S3Body): Promise<StagedBody> {
  const small = body.size !== undefined && body.size <= SMALL_BYTES;
  const blobs = await store.stage(policy, small ? await body.bytes(SMALL_BYTES) : body.stream(), body.size);
  const { size, md5, checksum } = body.result();
  return { content: blobs.length === 0 ? { kind: 'empty' } : { kind: 'staged', blobs }, size, md5, checksum };
}
