import { FsError } from '../errors.ts';
import { NUMBER_MAX } from '../store/layout.ts';
import type { Awaitable } from '../store/filesystem-store.ts';
import { type Credentials, MAY_READ, requireAccess } from './access.ts';
import { isAccessDue, recordAccess } from './access-time.ts';
import type { Context } from './context.ts';
import { type Entry, listEntries } from './entries.ts';
import { loadDirectory } from './inode.ts';

export interface DirectoryPage {
  readonly entries: readonly Entry[];
  readonly isEnd: boolean;
}

export function readDirectory(
  context: Context,
  credentials: Credentials,
  directory: number,
  cookie: number,
  max: number,
): Awaitable<DirectoryPage> {
  const { tree } = context.store;
  if (!(cookie >= 0 && cookie < NUMBER_MAX)) throw new FsError('EINVAL', 'No listing has given out this cookie.');
  return context.store.read(() => {
    const inode = loadDirectory(tree, directory);
    requireAccess(tree, credentials, inode, MAY_READ);
    const entries: Entry[] = [];
    listEntries(tree, directory, cookie, (entry) => entries.push(entry) <= max);
    const isEnd = entries.length <= max;
    // Deferred: a reading function must not change anything.
    if (isAccessDue(inode, context.now())) queueMicrotask(() => recordAccess(context, directory));
    return { entries: isEnd ? entries : entries.slice(0, max), isEnd };
  });
}
