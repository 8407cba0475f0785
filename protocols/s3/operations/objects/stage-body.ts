import type { Checksum, NewContent, ObjectStore } from '@granary/storage/object-store';
import type { S3Body } from '../../request.ts';

/** Up to this size a body is taken in as one buffer: a stream costs more. Beyond, the large fresh buffer does. */
const SMALL_BYTES = 64 * 1024;

export interface StagedBody {
  readonly content: NewContent;
  readonly size: number;
  readonly md5: string;
  readonly checksum: Checksum | null;
}

/** Takes in a body for a commit. It has been verified when this resolves. */
export async function stageBody(store: ObjectStore, policy: number, body: S3Body): Promise<StagedBody> {
  const small = body.size !== undefined && body.size <= SMALL_BYTES;
  const content = await store.stage(policy, small ? await body.bytes(SMALL_BYTES) : body.stream(), body.size);
  return { content, ...body.result() };
}
