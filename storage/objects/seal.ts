import type { ObjectVersion } from './records.ts';

/** A version as it is kept, for who decrypts its bytes or moves them as they are: the store gives out sealed ones to nobody else. */
export function withoutSeal(version: ObjectVersion): ObjectVersion {
  const { customerKey: _seal, ...attributes } = version.attributes;
  return { ...version, attributes };
}
