import { ObjectError, withoutSeal, type ObjectStore, type ObjectVersion } from '@granary/storage/object-store';
import type { MoveOrder } from './order.ts';

interface MoverParts {
  readonly store: ObjectStore;
  readonly reader: { versionAt(bucket: number, key: string, sequence: number): ObjectVersion | undefined };
  readonly now: () => number;
}

/** The version was replaced, deleted or moved while it was read: there is nothing to move any more. */
const OVERTAKEN = new Set(['precondition-failed', 'no-such-version', 'no-such-bucket']);

/**
 * Writes the bytes of a version anew under another policy, then has the index name those instead of the old ones: one
 * transaction, which is refused when the version is not the one that was read. Until then it is read where it was;
 * after a crash before, what was written is dead space. Bytes under a key of a client's are moved as they are kept,
 * those under a key of the array's are encrypted with one again.
 */
export async function moveBytes({ store, reader, now }: MoverParts, order: MoveOrder): Promise<boolean> {
  const { bucket, key, sequence, policy } = order;
  const version = reader.versionAt(bucket, key, sequence);
  if (!version || version.isDeleteMarker) return false;
  try {
    const encrypt = version.attributes.encryption !== undefined || store.isEncrypted(version);
    const content =
      version.size === 0
        ? ({ kind: 'empty' } as const)
        : await store.stage(policy, store.read(withoutSeal(version)), version.size, { encrypt });
    await store.commit('moveVersion', { bucket, key, sequence, seen: version.content, policy, content, at: now() });
    return true;
  } catch (error) {
    if (error instanceof ObjectError && OVERTAKEN.has(error.code)) return false;
    throw error;
  }
}
