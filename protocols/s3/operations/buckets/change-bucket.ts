import type { BucketSettings } from '@granary/storage/object-store';
import type { S3Request } from '../../request.ts';

/** Settings given as `undefined` are removed. */
export async function changeSettings(
  { context, bucket, now }: S3Request,
  settings: { readonly [K in keyof BucketSettings]?: BucketSettings[K] | undefined },
): Promise<void> {
  await context.store.commit('changeBucket', { bucket: bucket.id, settings, at: now });
}
