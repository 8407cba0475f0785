import type { BlockDevice } from '../block-device.ts';
import { KIND, ROOT_INODE } from './store/layout.ts';
import { FilesystemStore } from './store/filesystem-store.ts';
import { hasSuperblock } from './store/superblock.ts';

/**
 * Whether the device holds a complete filesystem; formatting may have been interrupted. Throws if one exists and cannot
 * be read.
 */
export async function isFormatted(device: BlockDevice): Promise<boolean> {
  if (!(await hasSuperblock(device))) return false;
  const store = await FilesystemStore.open(device, { isInspection: true });
  return store.read(() => store.tree.get(ROOT_INODE, KIND.attributes, 0) !== undefined);
}
