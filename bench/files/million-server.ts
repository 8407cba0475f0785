import type { Filesystem } from '@granary/storage/filesystem';
import { DIRECTORIES, nameOf } from './million.ts';
import { openFilesystem } from './volume.ts';

const SUPERUSER = { uid: 0, gid: 0, groups: [] };
const TOGETHER = 1000;
const LISTED = 100_000;
const PAGE = 1000;

/** Fills a filesystem with the two directories, or lists it; the task and the folder are the arguments. */
const [task, folder] = process.argv.slice(-2) as [string, string];
const { filesystem, close } = await openFilesystem(folder);
if (task === 'fill') await fill(filesystem);
process.send?.({ listedPerSecond: task === 'list' ? await listingRate(filesystem) : 0 });
await close();
process.disconnect();

async function fill(into: Filesystem): Promise<void> {
  for (const [name, count] of DIRECTORIES) {
    const node = { type: 'directory', mode: 0o755 } as const;
    const { inode } = await into.create(SUPERUSER, into.root, Buffer.from(name), node);
    for (let first = 0; first < count; first += TOGETHER) {
      const made = Array.from({ length: TOGETHER }, (_, index) =>
        into.create(SUPERUSER, inode, Buffer.from(nameOf(first + index)), { type: 'file', mode: 0o644 }),
      );
      await Promise.all(made);
    }
  }
}

async function listingRate(from: Filesystem): Promise<number> {
  const startedMs = performance.now();
  let listed = 0;
  for (let after = 0; listed < LISTED;) {
    const page = await from.listInodes(after, PAGE);
    listed += page.length;
    after = page.at(-1)?.attributes.inode ?? after;
  }
  return (listed * 1000) / (performance.now() - startedMs);
}
