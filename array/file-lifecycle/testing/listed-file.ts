import type { ListedFile } from '../../engine/shares.ts';
import type { CriteriaContext } from '../criteria/fields.ts';

export const DAY_MS = 86_400_000;
export const NOW_MS = Date.parse('2026-03-01T12:00:00Z');

export function listedFile(changes: Partial<ListedFile> = {}): ListedFile {
  const at = NOW_MS - 100 * DAY_MS;
  return {
    inode: 10,
    generation: 1,
    change: 1,
    path: '/projects/alpha/Report.DOC',
    sizeBytes: 5_000,
    usedBytes: 8_192,
    uid: 1_000,
    gid: 100,
    accessedAt: at,
    modifiedAt: at,
    changedAt: at,
    createdAt: at,
    isArchived: false,
    ...changes,
  };
}

export const testContext: CriteriaContext = {
  nowMs: NOW_MS,
  category: (name) => ({ documents: 'category-00000001', pictures: 'category-00000002' })[name.toLowerCase()],
  categoryOf: (extension) => ({ doc: 'category-00000001', jpg: 'category-00000002' })[extension],
  uid: (user) => ({ anna: 1_000 })[user],
  gid: (group) => ({ staff: 100 })[group],
};
