import type { Attributes, Filesystem } from '@granary/storage/filesystem';
import type { Work } from '../../work.ts';
import { EngineError } from '../../errors.ts';
import { findPath, SUPERUSER } from './files/paths.ts';

const PAGE = 256;

/**
 * Moves a directory and everything below it to a project. A directory goes before what is in it: what is created there
 * meanwhile belongs to the project already. The changes of a page share their commits.
 */
export async function setProject(filesystem: Filesystem, path: string, project: number, work: Work): Promise<void> {
  const top = await findPath(filesystem, path);
  if (top.type !== 'directory') throw new EngineError('invalid', `${path} is no directory.`);
  const directories = [top.inode];
  await filesystem.quotas.setProject(SUPERUSER, top.inode, project);
  let done = 0;
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    for (let cookie = 0; ;) {
      if (work.signal?.aborted === true) throw new EngineError('cancelled', 'It was cancelled.');
      const { entries, isEnd } = await filesystem.readDirectory(SUPERUSER, directory, cookie, PAGE);
      const moved = await Promise.all(entries.map(({ inode }) => moveOne(filesystem, inode, project)));
      directories.push(...moved.filter((one) => one?.type === 'directory').map((one) => (one as Attributes).inode));
      done += entries.length;
      work.onProgress?.(Math.min(1, done / Math.max(1, filesystem.statistics().inodes)));
      if (isEnd) break;
      cookie = entries.at(-1)?.cookie ?? 0;
    }
  }
}

/** Undefined if it was removed meanwhile. */
async function moveOne(filesystem: Filesystem, inode: number, project: number): Promise<Attributes | undefined> {
  try {
    const attributes = await filesystem.attributes(inode);
    if (attributes.project !== project) await filesystem.quotas.setProject(SUPERUSER, inode, project);
    return attributes;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ESTALE') return undefined;
    throw error;
  }
}
